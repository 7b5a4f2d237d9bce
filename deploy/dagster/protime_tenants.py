"""Every tenant is a partition of one asset: its warehouse.

A file in the folder PROTIME_TENANTS is a tenant: <name>.json, the connector's configuration. The tenant's
rows and states are in PROTIME_WAREHOUSES/<name>.duckdb.
"""

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import dagster as dg

TENANTS = Path(os.environ["PROTIME_TENANTS"])
WAREHOUSES = Path(os.environ["PROTIME_WAREHOUSES"])
PROGRAM = os.environ.get("PROTIME_PROGRAM", "protime")
NIGHT = os.environ.get("PROTIME_NIGHT", "0 2 * * *")
TIME_ZONE = os.environ.get("PROTIME_TIME_ZONE", "Europe/Brussels")
RETRY_SECONDS = float(os.environ.get("PROTIME_RETRY_SECONDS", "300"))
SENSOR_SECONDS = int(os.environ.get("PROTIME_SENSOR_SECONDS", "60"))

# The exit code of protime sync if a person has to correct something.
MISCONFIGURED = 2
# How long a sync may take to commit after it was asked to stop.
STOP_SECONDS = 30

tenants = dg.DynamicPartitionsDefinition(name="tenants")


@dg.asset(
    partitions_def=tenants,
    retry_policy=dg.RetryPolicy(
        max_retries=3,
        delay=RETRY_SECONDS,
        backoff=dg.Backoff.EXPONENTIAL,
        jitter=dg.Jitter.PLUS_MINUS,
    ),
)
def warehouse(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The rows of one tenant, as the service has them."""
    tenant = context.partition_key
    file = WAREHOUSES / f"{tenant}.duckdb"
    config = TENANTS / f"{tenant}.json"
    metrics = WAREHOUSES / f"{tenant}.prom"
    files = ["--config", config, "--warehouse", file, "--metrics", metrics]
    exit_code, output = run([PROGRAM, "sync", *files, "--end-with-parent"])
    result = json.loads(output) if output else {"records": 0, "failures": []}
    facts = {"exit_code": exit_code, "records": result["records"], **costs(file)}
    if exit_code != 0:
        reasons = [failure["message"] for failure in result["failures"]]
        raise dg.Failure(
            "; ".join(reasons) or f"protime sync ended with {exit_code}",
            metadata=facts,
            allow_retries=exit_code != MISCONFIGURED,
        )
    return dg.MaterializeResult(metadata=facts | {"seconds": result["seconds"]})


def run(command: list[str | Path]) -> tuple[int, bytes]:
    """The exit code and stdout of a program; its log goes to the log of the run. It never outlives the run."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, umask=0o077)
    try:
        output, _ = process.communicate()
        return process.returncode, output
    finally:
        stop(process)


def stop(process: subprocess.Popen) -> None:
    """Lets the program commit, then ends it with everything that it has started."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def costs(file: Path) -> dict[str, float]:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "memory_mb": round(used.ru_maxrss / 1024),
        "warehouse_mb": round(file.stat().st_size / 1e6, 1) if file.exists() else 0,
    }


nightly = dg.define_asset_job("nightly", [warehouse], executor_def=dg.in_process_executor)


@dg.schedule(
    job=nightly,
    cron_schedule=NIGHT,
    execution_timezone=TIME_ZONE,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def every_night(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
    night = f"{context.scheduled_execution_time:%Y-%m-%dT%H:%M}"
    return [
        dg.RunRequest(run_key=f"{night} {tenant}", partition_key=tenant)
        for tenant in context.instance.get_dynamic_partitions("tenants")
    ]


@dg.sensor(
    job=nightly,
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def tenants_folder(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """A new file becomes a partition and is loaded at once; a removed one is a partition no more."""
    wanted = {file.stem for file in TENANTS.glob("*.json")}
    known = set(context.instance.get_dynamic_partitions("tenants"))
    added, removed = sorted(wanted - known), sorted(known - wanted)
    return dg.SensorResult(
        run_requests=[dg.RunRequest(partition_key=tenant) for tenant in added],
        dynamic_partitions_requests=[
            tenants.build_add_request(added),
            tenants.build_delete_request(removed),
        ],
    )


defs = dg.Definitions(
    assets=[warehouse], jobs=[nightly], schedules=[every_night], sensors=[tenants_folder]
)
