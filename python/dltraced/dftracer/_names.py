# SPDX-License-Identifier: BSD-2-Clause
"""The constants and enumerations of DFTracer's API for Python, and what of its environment has a meaning here."""
from __future__ import annotations

import enum
import os
import typing
from typing import Any

from .. import _implementation as implementation

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

# Whoever traces with dltraced has asked for it: where DFTracer is off, unset is on here.
DFTRACER_ENABLE = implementation.ENABLED and os.environ.get(DFTRACER_ENABLE_ENV, "1") in ("1", "")
DFTRACER_INIT_PRELOAD = os.environ.get(DFTRACER_INIT_ENV, "PRELOAD") == "PRELOAD"
DFTRACER_LOG_LEVEL = os.environ.get(DFTRACER_LOG_LEVEL_ENV, "ERROR")
# Off by default there, where it makes files larger; here only if it is said.
WITH_ARGUMENTS = os.environ.get("DFTRACER_INC_METADATA") != "0"
HONOURED = (DFTRACER_ENABLE_ENV, "DFTRACER_INC_METADATA", "DFTRACER_DATA_DIR")

ITER_COUNT_NAME, INIT_NAME, BLOCK_NAME, ITER_NAME = "count", "init", "block", "iter"
CTX_SEPARATOR, ROOT_NAME, ROOT_CAT, CAT_DYNAMO = ".", "ai_root", "ai_root", "dynamo"
START_METADATA_NAME, STOP_METADATA_NAME = "start", "end"

EntityID = int
R, T = typing.TypeVar("R"), typing.TypeVar("T")
P: Any = typing.ParamSpec("P") if hasattr(typing, "ParamSpec") else typing.TypeVar("P")
TagValueTuple = typing.Tuple[int, typing.Union[int, float, str]]

EntityStore = enum.IntEnum("EntityStore", "MEMORY GPU_MEMORY LOCAL_DISK PARALLEL_FS BURST_BUFFER OBJECT_STORE DATABASE NETWORK OTHER",
                           start=0, module=__name__)
EntityRole = enum.IntEnum("EntityRole", "UNKNOWN INPUT OUTPUT INTERMEDIATE PARAMETER REFERENCE", start=0, module=__name__)
EntityRelation = enum.IntEnum(
    "EntityRelation", [*zip("USED GENERATED INVALIDATED UPDATED".split(), range(4)),
                       *zip("DERIVED_FROM REVISION_OF CONTAINS PART_OF SPECIALIZATION_OF ALTERNATE_OF DEPENDS_ON".split(), range(16, 23))],
    module=__name__)


class _Tag(enum.Enum):
    def __int__(self) -> int:
        return self.value


TagType = _Tag("TagType", "KEY VALUE IGNORE", start=0, module=__name__)
TagDType = _Tag("TagDType", "INT FLOAT STRING", start=0, module=__name__)


class StringEnum(str, enum.Enum):
    def __str__(self) -> str:
        return str(self.value)


def _events(name: str, members: str) -> Any:
    return StringEnum(name, [(member, member.lower()) for member in members.split()], module=__name__)


ProfileCategory = _events("ProfileCategory", "COMPUTE DATA DATALOADER COMM DEVICE CHECKPOINT PIPELINE OTHER")
ComputeEvent = _events("ComputeEvent", "FORWARD BACKWARD STEP")
DataEvent = _events("DataEvent", "PREPROCESS ITEM")
DataLoaderEvent = _events("DataLoaderEvent", "FETCH")
CommunicationEvent = _events("CommunicationEvent", "SEND RECEIVE BARRIER BCAST REDUCE ALL_REDUCE GATHER ALL_GATHER SCATTER "
                                                   "REDUCE_SCATTER ALL_TO_ALL")
DeviceEvent = _events("DeviceEvent", "TRANSFER")
PipelineEvent = _events("PipelineEvent", "EPOCH TRAIN EVALUATE TEST")
CheckpointEvent = _events("CheckpointEvent", "CAPTURE RESTART")
OtherEvent = _events("OtherEvent", "LOG")
IOEvent = _events("IOEvent", "OPEN READ WRITE CLOSE")


def get_iter_block_name(name: Any = "") -> str:
    return name if str(name).endswith(".block") else f"{name}.block"


def get_iter_handle_name(name: Any = "") -> str:
    return name if str(name).endswith(".iter") else f"{name}.iter"
