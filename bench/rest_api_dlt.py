"""Reads the benchmark's clockings into a DuckDB file as one does with dlt: parquet files, merged by key.

Arguments: the origin of the service, and the file. Writes what it took to the file of BENCH_COST.
"""

import json
import os
import resource
import sys
import time

import dlt
from dlt.sources.rest_api import rest_api_source


def main(origin: str, file: str) -> None:
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
    pipeline = dlt.pipeline(
        pipeline_name="bench",
        pipelines_dir=f"{file}.dlt",
        destination=dlt.destinations.duckdb(file),
        dataset_name="bench",
    )
    pipeline.run(source, loader_file_format="parquet")
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
