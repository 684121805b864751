"""What the server is asked and what it answers; the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, RootModel, StrictInt, StrictStr, TypeAdapter, with_config
from typing_extensions import TypedDict

MOST_ITEMS = 10_000  # of one answer
MOST_HISTORY = 100_000
MOST_IDS = 100_000  # in `items` or `exclude`
MOST_FILTERS = 32
MOST_VALUES = 10_000  # in one {"in": […]}
MOST_REQUESTS = 1_000  # in one batch
MOST_OF_A_BATCH = 100_000  # items of all its answers
MOST_EXPLAINED = 100  # items of one answer
MOST_CONTRIBUTIONS = 200_000  # explained items × items of the history
LONGEST_TEXT = 1_000  # of an id or a value

Text = Annotated[StrictStr, Field(max_length=LONGEST_TEXT)]
Whole = Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
Id = Annotated[Whole | Text, Field(union_mode="left_to_right")]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Value = bool | Whole | Number | Text


class Strict(BaseModel):
    """A value with no other fields than those named."""

    model_config = ConfigDict(extra="forbid")


@with_config(extra="forbid")
class HistoryItem(TypedDict):
    """One item of a history, of strength 1 unless another is given; repeated items count once, with the last one."""

    item: Id
    strength: NotRequired[Annotated[Number, Field(gt=0, le=1e9)]]


class Condition(Strict):
    """What the value of a column has to be; all that is given holds. A missing value satisfies nothing."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    one_of: Annotated[list[Value] | None, Field(alias="in", max_length=MOST_VALUES)] = None
    below: Annotated[Number | Text | None, Field(alias="<")] = None
    at_most: Annotated[Number | Text | None, Field(alias="<=")] = None
    above: Annotated[Number | Text | None, Field(alias=">")] = None
    at_least: Annotated[Number | Text | None, Field(alias=">=")] = None
    different: Annotated[Value | None, Field(alias="!=")] = None
    contains: Annotated[Text | None, Field(description="Text that occurs in the value.")] = None


EXAMPLES: list[Any] = [
    {"user": 17, "n": 10},
    {"history": [{"item": 1193}, {"item": 661, "strength": 2}], "n": 5, "explain": True},
    {"user": 17, "filters": {"year": {">=": 1990}, "genre": {"in": ["Drama", "Comedy"]}}},
]


class Ask(Strict):
    """A request for recommendations: of a known user, or for a history, from which a new user is computed exactly."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": EXAMPLES})

    user: Annotated[
        Id | None, Field(description="A user of the training data. Beside a history it only chooses the variant.")
    ] = None
    history: Annotated[list[HistoryItem] | None, Field(max_length=MOST_HISTORY)] = None
    n: Annotated[StrictInt, Field(ge=1, le=MOST_ITEMS)] = 10
    exclude: Annotated[list[Id], Field(max_length=MOST_IDS, description="Never answer with these.")] = []
    items: Annotated[list[Id] | None, Field(max_length=MOST_IDS, description="Rank only these.")] = None
    filters: Annotated[dict[Text, Condition | Value], Field(max_length=MOST_FILTERS)] = {}
    discount: Annotated[
        Number | None, Field(ge=-2, le=2, description="Rank by score / popularity^discount; default: the model's.")
    ] = None
    explain: bool = False
    seen: Annotated[
        Literal["exclude", "include"], Field(description="Whether items of the user's history are left out.")
    ] = "exclude"
    model: Annotated[Text | None, Field(description="Name of a model; default: the variant of the user.")] = None
    rank: Annotated[StrictInt | None, Field(ge=1, description="K' ≤ K; needs a model saved with its path.")] = None
    regularization: Annotated[
        Number | None, Field(ge=0, lt=1, description="τ / σ₁; needs a model saved with its path.")
    ] = None


class Batch(RootModel[list[Ask]]):
    """Several requests in one; the answers have the same order."""

    root: Annotated[list[Ask], Field(max_length=MOST_REQUESTS)]


ONE: TypeAdapter[Ask] = TypeAdapter(Ask)
MANY: TypeAdapter[list[Ask]] = TypeAdapter(Annotated[list[Ask], Field(max_length=MOST_REQUESTS)])


class Reason(BaseModel):
    """An item of the history, and its share of all that the history adds to the score."""

    id: int | str
    title: str
    share: float


class Recommended(BaseModel):
    """One item of a list, best first."""

    id: int | str
    title: str
    score: float
    reasons: list[Reason] = []


class Answer(BaseModel):
    """The list of one request."""

    items: list[Recommended]
    model: str
    version: Annotated[str, Field(description="Fingerprint of the data that the model was fitted to.")]
    variant: Annotated[str | None, Field(description="The model that the split chose; null where `model` was given.")]
    took_ms: float
    ignored: Annotated[list[int | str], Field(description="Items of the history that the model does not know.")] = []


class Problem(BaseModel):
    """What is wrong with a request, and what to do about it."""

    error: str
    remedy: str


class FoundItem(BaseModel):
    """An item of a search."""

    id: int | str
    title: str
    popularity: float


class Found(BaseModel):
    """Items of a search."""

    items: list[FoundItem]


class SimilarItem(BaseModel):
    """A neighbour of an item."""

    id: int | str
    title: str
    score: float


class Similar(BaseModel):
    """Neighbours of an item, nearest first."""

    item: int | str
    title: str
    items: list[SimilarItem]
    model: str
    version: str


class PastItem(BaseModel):
    """An item of a user's history."""

    item: int | str
    title: str
    strength: float


class UserHistory(BaseModel):
    """What the model knows of a user."""

    user: int | str
    history: list[PastItem]
    model: str
    version: str


class Path(BaseModel):
    """What `rank` and `regularization` of a request may be."""

    max_rank: int
    regularizations: Annotated[list[float], Field(description="From, to; any number between.")]


class ModelFacts(BaseModel):
    """One of the models."""

    name: str
    version: str
    kind: str
    factors: int | None
    users: int
    items: int
    path: Path | None
    rank: Annotated[int | None, Field(description="What a request without `rank` gets.")]
    regularization: float | None
    discount: Annotated[float | None, Field(description="The model's own exponent; null where none can be given.")]
    folds_in: Annotated[bool, Field(description="Whether it takes a history.")]
    columns: Annotated[list[str], Field(description="Columns of the items that filters can name.")]
    column_kinds: Annotated[dict[str, str], Field(description="What each holds: number, text or flag.")]
    weight: float


class Models(BaseModel):
    """All models."""

    models: list[ModelFacts]


class ItemMap(BaseModel):
    """Items in the plane: row k of every list is one item, the most popular first."""

    ids: list[int | str]
    titles: list[str]
    x: list[float]
    y: list[float]
    popularity: list[float]
    model: str
    version: str


class Health(BaseModel):
    """Whether the server answers, and which models it answers with."""

    status: str
    models: dict[str, Any] = {}
    refused: Annotated[dict[str, str], Field(description="Files that were replaced and could not be used.")] = {}
