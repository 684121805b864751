"""Names of compositions, and parts that are built as the registry says."""

from __future__ import annotations

import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.registry import MODELS, composition, model_named
from taylorank.training.composition import is_composition


@pytest.mark.parametrize("loss", tr.losses.names())
@pytest.mark.parametrize("backbone", tr.backbones.names())
def test_a_name_makes_the_model_that_has_it(loss, backbone):
    model = model_named(f"{loss}/{backbone}")
    assert (model.loss, model.backbone, model.sampler) == (loss, backbone, None)
    assert type(model_named(model.composition)) is tr.Neural
    assert model_named(model.composition).get_params() == model.get_params()
    assert composition(model) == model.composition
    for sampler in tr.samplers.names():
        name = f"{loss}/{backbone}/{sampler}"
        assert model_named(name).composition == name


def test_a_closed_form_has_the_name_of_its_loss():
    assert {name for name in tr.losses.names() if name in MODELS} == {
        name for name in tr.losses.names() if tr.losses.get(name).is_quadratic
    }


@pytest.mark.parametrize("name", ["softmax/mf/uniform/more", "mf", "", "rg3/mf"])
def test_other_words_name_nothing(name):
    assert not is_composition(name)
    with pytest.raises(ParameterError, match="no model is called"):
        model_named(name)


@pytest.mark.parametrize("loss", [name for name in tr.losses.names() if tr.losses.get(name).draws])
def test_draws_leave_out_positives_unless_they_stand_for_all_items(loss):
    pytest.importorskip("torch")
    from taylorank.training.build import build

    parts = build(tr.Neural(loss, factors=2), tr.planted(20, 10, interactions=80), device="cpu")
    assert (parts.sampler.seen is None) == tr.losses.get(loss).draws_may_be_positives
