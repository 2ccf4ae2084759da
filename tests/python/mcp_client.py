"""Runs the four tools of `cueme mcp` with the official SDK; a human answers through the command line.

Usage: mcp_client.py <path of cueme>. CUEME_HOME names the home. Prints "ok" at the end.
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CUEME = sys.argv[1]


async def run(*words):
    process = await asyncio.create_subprocess_exec(CUEME, *words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0, (words, process.returncode)
    return out.decode()


async def waited_for(prompt):
    for _ in range(600):
        for cue in json.loads(await run("inbox", "--json")):
            if cue["prompt"] == prompt and cue["waiting"] > 0:
                return cue["cue_id"]
        await asyncio.sleep(0.05)
    raise AssertionError(f"nobody asks {prompt!r}")


async def main():
    parameters = StdioServerParameters(command=CUEME, args=["mcp"], env=dict(os.environ))
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        print("protocol", hello.protocol_version)
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["join", "recall", "cue", "pause"], tools

        joined = await session.call_tool("join", {"agent_runtime": "claude_code"})
        assert not joined.is_error, joined
        agent = joined.structured_content["agent_id"]

        heard = []

        async def progress(done, total, message):
            heard.append((done, message))

        payload = {"type": "choice", "options": ["SQLite", "PostgreSQL"]}
        asking = asyncio.create_task(
            session.call_tool(
                "cue",
                {"agent_id": agent, "prompt": "Which database?", "payload": payload},
                progress_callback=progress,
            )
        )
        await run("answer", await waited_for("Which database?"), "--select", "SQLite")
        answer = await asking
        assert answer.content[0].text.startswith("SQLite\n"), answer
        assert answer.structured_content["answer"]["reply"]["selected"] == ["SQLite"], answer
        assert heard, "no progress was reported"

        pausing = asyncio.create_task(session.call_tool("pause", {"agent_id": agent, "prompt": "Look at it."}))
        await run("answer", await waited_for("Look at it."), "--confirm")
        assert not (await pausing).is_error

        found = await session.call_tool("recall", {"hints": "database"})
        assert found.content[0].text.startswith(f"agent_id={agent}\n"), found

        # The human takes longer than the ten seconds between two reports.
        heard.clear()
        slow = asyncio.create_task(
            session.call_tool("cue", {"agent_id": agent, "prompt": "Slow?"}, progress_callback=progress)
        )
        cue = await waited_for("Slow?")
        await asyncio.sleep(11)
        assert len(heard) >= 2, heard
        await run("answer", cue, "at last")
        assert (await slow).content[0].text.startswith("at last\n")

        # The client gives up; the same call waits for the same question again.
        call = {"agent_id": agent, "prompt": "Ship it?"}
        try:
            await asyncio.wait_for(session.call_tool("cue", call), 1)
            raise AssertionError("nobody answered")
        except asyncio.TimeoutError:
            pass
        again = asyncio.create_task(session.call_tool("cue", call))
        cue = await waited_for("Ship it?")
        await run("answer", cue, "ship it")
        shipped = await again
        assert "ship it\n" in shipped.content[0].text, shipped
        assert shipped.structured_content["cue_id"] == cue, shipped

        wrong = await session.call_tool("cue", {"agent_id": "nobody-here", "prompt": "A?"})
        assert wrong.is_error, wrong

        prompt = await session.get_prompt("hap", {"runtime": "cursor"})
        assert "cueme" in prompt.messages[0].content.text
        assert len((await session.list_resources()).resources) == 2
    print("ok")


asyncio.run(main())
