"""A small MCP server of ours on fastmcp 4, for the tests of internal/peers.

It shows what the published servers do not: schemas with references and
recursion, pages, progress, a tool that learns of its cancellation, a list that
changes while it runs, integers of 64 bits, and names that are not ASCII.
"""

import asyncio
import os
import pathlib
import sys

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = FastMCP(
    "aurora-peer",
    instructions="A peer for the tests of Aurora.",
    version="1.0",
    dereference_schemas=False,
    list_page_size=3,
)


class Filter(BaseModel):
    """A condition, or several of them."""

    field: str = ""
    all_of: list["Filter"] = []


class Order(BaseModel):
    item: str
    count: int = Field(ge=1, le=99)
    filter: Filter | None = None


@mcp.tool
def order(order: Order, note: str | None = None) -> Order:
    """Repeats an order."""
    return order


@mcp.tool
def big_number() -> dict:
    """Returns an integer that float64 cannot hold."""
    return {"id": 9007199254740993}


@mcp.tool
def broken() -> str:
    """Always fails."""
    raise ToolError("out of coffee")


@mcp.tool(name="天气")
def weather(城市: str) -> str:
    """说一个城市的天气。"""
    return f"{城市}：晴🌧"


@mcp.tool
async def steps(count: int, ctx: Context) -> str:
    """Reports progress, step by step."""
    for i in range(1, count + 1):
        await ctx.report_progress(i, count, f"step {i}")
    return f"{count} steps"


@mcp.tool
async def wait(marker: str, ctx: Context) -> str:
    """Waits for its cancellation, and writes down that it came."""
    await ctx.report_progress(0, None, "waiting")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        pathlib.Path(marker).write_text("cancelled")
        raise
    return "never"


@mcp.tool
async def grow(ctx: Context) -> str:
    """Adds one tool while the session is open."""

    def grown() -> str:
        """Was not there before."""
        return "grown"

    mcp.tool(grown)
    await ctx.send_notification(mcp_types.ToolListChangedNotification())
    return "one more tool"


@mcp.tool
async def say(text: str, ctx: Context) -> str:
    """Sends a log message, and prints to stderr."""
    print("on stderr:", text, file=sys.stderr)
    await ctx.error(text)
    return "said"


@mcp.resource("note://today", mime_type="text/plain")
def today() -> str:
    """The note of today."""
    return "今天"


@mcp.resource("note://day/{day}", mime_type="text/plain")
def note(day: str) -> str:
    """The note of a day."""
    return f"note of {day}"


@mcp.prompt
def greet(name: str, tone: str = "warm") -> str:
    """Greets somebody."""
    return f"Greet {name} in a {tone} tone."


@mcp.completion
def complete(ref, argument, context):
    """Tones of a greeting; a second argument narrows them."""
    if argument.name != "tone":
        return None
    tones = ["warm", "wry"]
    if (context and context.arguments or {}).get("name") == "teacher":
        tones = ["warm"]
    return [t for t in tones if t.startswith(argument.value)]


if __name__ == "__main__":
    if "http" in sys.argv[1:]:
        mcp.run(transport="http", host="127.0.0.1", port=int(os.environ["PORT"]), show_banner=False)
    else:
        mcp.run(show_banner=False)
