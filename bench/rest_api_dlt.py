"""Reads the benchmark's clockings into DuckDB or PostgreSQL as one does with dlt: files of rows, merged by key.

Arguments: the origin of the service, a folder for dlt, and the DuckDB file or the address of PostgreSQL. Writes what it took to the file of BENCH_COST.
"""

import json
import os
import resource
import sys
import time

import dlt
from dlt.sources.rest_api import rest_api_source


def main(origin: str, folder: str, address: str) -> None:
    started = time.perf_counter()
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"
    source = rest_api_source(
        {
            "client": {
                "base_url": f"{origin}/connector/svcapi/api/v1/",
                "paginator": {"type": "json_link", "next_url_path": "nextLink"},
            },
            "resources": [
                {
                    "name": "clockings",
                    "primary_key": "id",
                    "write_disposition": "merge",
                    "endpoint": {"path": "clockings", "data_selector": "value"},
                }
            ],
        }
    )
    is_server = address.startswith("postgres")
    pipeline = dlt.pipeline(
        pipeline_name="bench",
        pipelines_dir=f"{folder}/dlt",
        destination=dlt.destinations.postgres(address) if is_server else dlt.destinations.duckdb(address),
        dataset_name="bench",
    )
    pipeline.run(source, loader_file_format="csv" if is_server else "parquet")
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "seconds": time.perf_counter() - started,
        "cpuSeconds": used.ru_utime + used.ru_stime,
        "peakMegabytes": used.ru_maxrss / 1024,
    }
    with open(os.environ["BENCH_COST"], "w") as out:
        json.dump(cost, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
