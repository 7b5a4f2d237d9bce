"""Marks the wheel as one for a platform, which the variable WHEEL_PLATFORM names."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformHook(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['WHEEL_PLATFORM']}"
