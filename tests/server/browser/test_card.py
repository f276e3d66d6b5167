"""The card of an answer, in a frame of a host that speaks MCP Apps, over a real server."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

CARD = "ui://askgraph/answer.html"
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HOST = """
<iframe sandbox="allow-scripts" style="width: 40rem; border: 0"></iframe>
<script>
  const frame = document.querySelector("iframe");
  window.heard = [];
  window.send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    heard.push(data);
    const reply = (result) => send({ id: data.id, result });
    if (data.method === "ui/initialize") reply({
      protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" },
      hostCapabilities: { serverTools: {} }, hostContext: { theme: "dark" },
    });
    if (data.method === "tools/call") reply(await callTool(data.params));
    if (data.method === "ui/update-model-context") reply({});
    if (data.method === "ui/notifications/size-changed") frame.height = data.params.height;
  });
  window.open = (html) => { frame.srcdoc = html; };
</script>
"""
POLICY = (
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
)
"""What a host sets where a card asks for no address."""


class Host:
    """A page with the card in a frame, and the tools of a server."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        page.expose_function("callTool", lambda call: self.rpc("tools/call", call))
        page.set_content(HOST)
        [card] = self.rpc("resources/read", {"uri": CARD})["contents"]
        assert card["mimeType"] == "text/html;profile=mcp-app" and len(card["text"]) < 30_000
        assert "http://" not in card["text"] and "https://" not in card["text"]
        html = card["text"].replace('<meta charset="utf-8">', f'<meta charset="utf-8">{POLICY}')
        page.evaluate("html => window.open(html)", html)
        page.wait_for_function("heard.some((one) => one.method === 'ui/notifications/initialized')")

    def rpc(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a message to the server."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = httpx2.post(f"{self.address}/mcp", json=message, headers=HEADERS, timeout=600)
        lines = [line[6:] for line in reply.text.splitlines() if line.startswith("data: {")]
        return json.loads(lines[-1] if lines else reply.text)["result"]

    def show(self, question: str, *, whole: bool) -> FrameLocator:
        """Show the result of a question, as text alone or with all of it in its metadata."""
        asked = {"question": question, "graphs": ["space"]}
        result = self.rpc("tools/call", {"name": "ask", "arguments": {**asked, "detail": whole}})
        if whole:
            result["_meta"] = {"askgraph/answer": result.pop("structuredContent")}
        for name, params in (("input", {"arguments": asked}), ("result", result)):
            message = {"method": f"ui/notifications/tool-{name}", "params": params}
            self.page.evaluate("message => send(message)", message)
        return self.page.frame_locator("iframe")

    def heard(self, method: str) -> list[Any]:
        """The parameters of the card's messages with this method."""
        messages: list[Any] = self.page.evaluate("heard")
        return [one["params"] for one in messages if one.get("method") == method]


@pytest.fixture
def host(browser: Browser, address: str) -> Iterator[Host]:
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url))
    yield Host(page, address)
    page.close()
    assert faults == []


def test_an_answer_has_a_chart_a_table_and_its_query(host: Host) -> None:
    card = host.show("How many moons does each planet have?", whole=True)
    expect(card.get_by_role("heading")).to_contain_text("Saturn")
    assert card.locator(".bar").count() == card.locator("tbody tr").count() > 3
    expect(card.locator("tbody")).to_contain_text("Saturn")
    expect(card.get_by_text("Read as: ")).to_contain_text("% sure")
    card.get_by_text("Query on space").click()
    expect(card.locator("pre")).to_contain_text("SELECT")
    assert host.heard("tools/call") == [] and host.heard("ui/notifications/size-changed")
    style = "getComputedStyle(document.documentElement).colorScheme"
    assert host.page.frames[1].evaluate(style) == "dark"


@pytest.mark.parametrize("whole", [True, False])
def test_a_person_changes_the_reading_and_the_model_hears_it(host: Host, *, whole: bool) -> None:
    card = host.show("What is the population of Mars?", whole=whole)
    readings = card.get_by_role("group").get_by_role("button")
    expect(readings).to_have_count(4)
    for number, words in ((1, "Deimos and Phobos"), (2, "Asaph Hall")):
        readings.nth(number).click()
        expect(card.get_by_role("heading")).to_contain_text(words)
        expect(readings.nth(number)).to_have_attribute("aria-pressed", "true")
        expect(card.get_by_text("chosen by you")).to_be_visible()
    context = host.heard("ui/update-model-context")
    assert len(context) == 2 and "Asaph Hall" in context[1]["content"][0]["text"]
    assert len(host.heard("tools/call")) == (2 if whole else 3)
    card.get_by_label("The question in other words").fill("Who discovered Titan?")
    card.get_by_role("button", name="Ask").click()
    expect(card.get_by_role("heading")).to_contain_text("Christiaan Huygens")
    expect(readings).to_have_count(0)
