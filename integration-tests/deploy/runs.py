"""Waits until all runs of the Dagster instance have ended, and prints what became of each as JSON.

Arguments: how many runs there are at least, and a tag that the runs are to have (or nothing).
With the word "requested" in the end it waits only until there are as many.
"""

import json
import sys
import time

import dagster as dg
from dagster import DagsterEventType, DagsterInstance


def main(count: str, tag: str = "", *rest: str) -> None:
    with DagsterInstance.get() as instance:
        while True:
            records = instance.get_run_records()
            wanted = [r for r in records if not tag or tag in r.dagster_run.tags]
            done = "requested" in rest or all(r.dagster_run.is_finished for r in records)
            if len(wanted) >= int(count) and done:
                break
            time.sleep(0.5)
        print(json.dumps([facts(instance, record) for record in wanted]))


def facts(instance: DagsterInstance, record: dg.RunRecord) -> dict:
    run = record.dagster_run
    events = instance.all_logs(run.run_id)
    kinds = [e.dagster_event.event_type for e in events if e.dagster_event]
    return {
        "tenant": run.tags["dagster/partition"],
        "status": run.status.value,
        "startedAt": record.start_time,
        "endedAt": record.end_time,
        "retries": kinds.count(DagsterEventType.STEP_UP_FOR_RETRY),
        "metadata": metadata(instance, run.run_id),
    }


def metadata(instance: DagsterInstance, run_id: str) -> dict:
    """What the run reports of its last attempt."""
    for event in reversed(instance.all_logs(run_id)):
        told = event.dagster_event
        if told is None:
            continue
        if told.event_type == DagsterEventType.ASSET_MATERIALIZATION:
            return values(told.step_materialization_data.materialization.metadata)
        if told.event_type == DagsterEventType.STEP_FAILURE:
            error = told.step_failure_data.user_failure_data
            return values(error.metadata) if error else {}
    return {}


def values(metadata: dict) -> dict:
    return {name: value.value for name, value in metadata.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
