"""What a server says of itself and of who asks, as it goes over the wire."""

from pydantic import BaseModel, Field

__all__ = ["LimitsView", "MeView", "ServerView"]


class ServerView(BaseModel):
    """What a page has to know of its server."""

    name: str = "askgraph"
    version: str
    timeout: float = Field(description="Seconds that a question may take.")
    rows: int = Field(description="Rows that are sent with an answer.")
    upload_mb: int
    tiles: str = Field(description="URL template of map tiles; empty: none.")
    images: bool = Field(description="Whether images of other hosts may be shown.")


class LimitsView(BaseModel):
    """What a caller may use; 0 is no limit."""

    requests_per_minute: int
    parallel: int
    tokens_per_day: int
    money_per_day: float
    graphs: int = Field(description="Graphs that they added over the web.")


class MeView(BaseModel):
    """Who asks, and what they may."""

    id: str
    name: str
    scopes: list[str]
    graphs: list[str] | None = Field(description="Graphs that may be asked; null: all.")
    limits: LimitsView
