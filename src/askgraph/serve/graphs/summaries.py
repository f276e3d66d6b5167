"""Graphs in a list: what is known of each without opening it, read again where its files change."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from askgraph.errors import SetupError
from askgraph.metadata import Profile
from askgraph.metadata.descriptions import Description
from askgraph.serve.views.graphs import GraphSummary
from askgraph.workspace import Workspace
from askgraph.workspace.described import kept_descriptions
from askgraph.workspace.settings import GraphSettings

__all__ = ["Summaries"]

_FILES = 20  # names of files that are told
_LANGUAGES = 20

Stamp = tuple[int, ...]


class Summaries:
    """Reads the summaries of a workspace's graphs; safe to be called from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[Stamp, GraphSettings, GraphSummary]] = {}

    def of(self, name: str, settings: GraphSettings) -> GraphSummary:
        """Return the summary of a graph, reading its files where they changed."""
        stamp = self._stamp(name)
        known = self._known.get(name)
        if known is not None and known[:2] == (stamp, settings):
            return known[2]
        summary = self._read(name, settings)
        self._known[name] = (stamp, settings, summary)
        return summary

    def _stamp(self, name: str) -> Stamp:
        """Tell the files that a summary is read from by their times."""
        paths = (self._workspace.data(name) / "profile.json", self._workspace.description(name))
        return tuple(_changed(path) for path in paths)

    def _read(self, name: str, settings: GraphSettings) -> GraphSummary:
        profile = self._profile(name)
        told = self._description(name)
        return GraphSummary(
            name=name,
            title=told.name or name,
            description=told.description,
            triples=profile.triples if profile else None,
            classes=len(profile.classes) if profile else None,
            predicates=len(profile.predicates) if profile else None,
            languages=[tag for tag, _ in profile.languages[:_LANGUAGES] if tag] if profile else [],
            remote=settings.url is not None,
            source=_source(settings),
            license=told.license,
            addable_by_web=bool(settings.added_by),
        )

    def _profile(self, name: str) -> Profile | None:
        """The profile; None where there is none yet, or none that this version can read."""
        try:
            return self._workspace.profile(name)
        except SetupError:
            return None

    def _description(self, name: str) -> Description:
        try:
            told = kept_descriptions(self._workspace.description(name))
        except SetupError:
            told = ()
        return next(iter(told), Description(""))


def _source(settings: GraphSettings) -> str:
    """Where a graph comes from, without what callers need not know: folders, keys, passwords."""
    if settings.url is None:
        return ", ".join(Path(source).name for source in settings.sources[:_FILES])
    parts = urlsplit(settings.url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
