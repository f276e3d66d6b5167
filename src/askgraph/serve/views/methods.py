"""Methods and language models that callers may choose, as they go over the wire."""

from pydantic import BaseModel, Field

__all__ = ["MethodView", "MethodsView", "ModelView", "SettingView"]


class SettingView(BaseModel):
    """A setting of a method that callers may change."""

    name: str
    type: str = Field(description="boolean, integer or number.")
    default: bool | int | float


class MethodView(BaseModel):
    """A method, and what a question costs with it."""

    name: str
    words: str = Field(description="What it does, in a sentence.")
    needs_model: bool
    converses: bool = Field(description="Whether it looks at earlier questions.")
    usable: bool = Field(description="Whether it can be asked here as it is set up.")
    missing: str | None = Field(None, description="What is missing where it cannot.")
    settings: list[SettingView]
    questions: int = Field(description="How many questions the costs below are of.")
    seconds: float | None = Field(None, description="Seconds a question, on average here.")
    tokens: float | None = Field(None, description="Tokens a question, on average here.")
    money: float | None = Field(None, description="Money a question, on average here.")


class ModelView(BaseModel):
    """A language model of the workspace."""

    name: str
    model: str
    provider: str


class MethodsView(BaseModel):
    """What callers may choose."""

    default: str
    methods: list[MethodView]
    models: list[ModelView]
