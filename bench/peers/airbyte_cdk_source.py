"""The stream of clockings as a source of airbyte-cdk, in the way of its documentation.

LINK is the address of the first page; at its end the program writes what it took to BENCH_COST.
"""

import atexit
import json
import os
import resource
import sys
import time
from urllib.parse import urljoin

from airbyte_cdk.entrypoint import launch
from airbyte_cdk.models import ConnectorSpecification
from airbyte_cdk.sources import AbstractSource
from airbyte_cdk.sources.streams.http import HttpStream

LINK = os.environ["LINK"]


class Clockings(HttpStream):
    name = "clockings"
    primary_key = "id"
    url_base = LINK

    def path(self, *, next_page_token=None, **_):
        return next_page_token["link"] if next_page_token else LINK

    def next_page_token(self, response):
        link = response.json().get("nextLink")
        return {"link": urljoin(LINK, link)} if link else None

    def parse_response(self, response, **_):
        yield from response.json()["value"]

    def get_json_schema(self):
        return {"type": "object", "properties": {"id": {"type": "integer"}}}


class Source(AbstractSource):
    def spec(self, logger):
        return ConnectorSpecification(connectionSpecification={"type": "object"})

    def check_connection(self, logger, config):
        return True, None

    def streams(self, config):
        return [Clockings()]


@atexit.register
def report_cost():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "seconds": time.time() - float(os.environ["BENCH_STARTED"]),
        "cpuSeconds": usage.ru_utime + usage.ru_stime,
        "peakMegabytes": usage.ru_maxrss / 1024,
    }
    with open(os.environ["BENCH_COST"], "w", encoding="utf-8") as file:
        json.dump(cost, file)


launch(Source(), sys.argv[1:])
