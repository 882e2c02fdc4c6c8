"""What fuzzes plans begins with those of saved models, in bytes of its own."""

import fuzz_plans
from cc_build import ROOT


def test_small_numbers_are_a_byte_and_others_nine():
    found = fuzz_plans.as_bytes([-32, 0, 221, 222, -33], [1])
    long = b"\xff" + (222).to_bytes(8, "little")
    long += b"\xff" + (-33).to_bytes(8, "little", signed=True)
    assert found == bytes([0, 32, 253]) + long + bytes([254, 33])


def test_each_number_of_the_format_is_that_of_the_fuzzer():
    text = (ROOT / fuzz_plans.FUZZER).read_text()
    assert f"kNext = {fuzz_plans.NEXT};" in text
    assert f"kLong = {fuzz_plans.LONG};" in text
    assert f"kLeast = {fuzz_plans.LEAST};" in text


def test_saved_models_have_plans_of_this_version():
    plans = fuzz_plans.plans()
    assert len(plans) > 1
    assert {plan[0] + fuzz_plans.LEAST for plan in plans} == {3}
