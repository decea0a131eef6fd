"""Labels judged by networks that do not learn from them."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._training import cross_fit
from skpresto._training.batch import Batch
from skpresto._training.cross_fit import (
    LearnAsJudged,
    LearnWhatJudgesTrust,
    run_cross_fit,
)
from skpresto._training.left_out import (
    Judgement,
    LeftOutOpinion,
    divide,
    is_surest_half,
)

N, C, K = 6, 3, 2

logit = st.sampled_from([-4.0, -1.0, 0.0, 1.0, 5.0])
visit = st.tuples(
    st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True),
    st.lists(logit, min_size=K * N * C, max_size=K * N * C),
)
visits_made = st.lists(visit, min_size=1, max_size=8)
labels_of = st.lists(st.integers(0, C - 1), min_size=N, max_size=N)
parts_of = st.lists(st.integers(0, K - 1), min_size=N, max_size=N)
lengths = st.integers(1, 4)
epsilons = st.sampled_from([0.0, 0.05, 0.4, 0.8, 1.0])


def batch_of(visit, labels, epoch=0):
    index, logits = visit
    b = len(index)
    logits = torch.tensor(logits).view(K, N, C)[:, :b]
    given = torch.tensor([labels[i] for i in index])
    return Batch(torch.tensor(index), given, logits, torch.zeros(K, b), epoch)


def opinion_after(visits, labels, parts, q, epsilon=0.05):
    opinion = LeftOutOpinion(torch.tensor(parts), C, q, epsilon)
    for visit in visits:
        opinion.add_batch(batch_of(visit, labels))
    return opinion


class NaiveOpinion:
    """The same by lists and loops, in double precision."""

    def __init__(self, visits, parts, q):
        self.means = [[0.0] * C for _ in range(N)]
        self.log_means = [[0.0] * C for _ in range(N)]
        self.is_tied = self.is_settled = False
        for index, logits in visits:
            for j, i in enumerate(index):
                start = (parts[i] * N + j) * C
                powers = [math.exp(v) for v in logits[start : start + C]]
                for c in range(C):
                    new = powers[c] / sum(powers)
                    self.means[i][c] += (new - self.means[i][c]) / q
                    logarithm = math.log(max(new, 1e-6))
                    self.log_means[i][c] += (logarithm - self.log_means[i][c]) / q

    def settle(self, labels):
        weights = [sum(mean) for mean in self.means]
        fits = []
        for temperature in [2 ** (step / 10) for step in range(21)]:
            means = [[0.0] * C for _ in range(N)]
            for mean, log_mean, weight in zip(
                means, self.log_means, weights, strict=True
            ):
                if weight:
                    powers = [math.exp(v / weight / temperature) for v in log_mean]
                    mean[:] = [v / sum(powers) for v in powers]
            self.means = means
            noise = self.noise(labels)
            logs = [
                math.log(sum(mean[j] * noise[j][label] for j in range(C)))
                for mean, label in zip(means, labels, strict=True)
                if sum(mean)
            ]
            fits.append((sum(logs), means))
        # Of temperatures that fit the same, the lowest.
        best = max(fit for fit, _ in fits)
        self.is_tied = sum(fit > best - 1e-5 for fit, _ in fits) > 1
        self.means = next(means for fit, means in fits if fit == best)
        self.is_settled = True

    def noise(self, labels):
        counts = [[1 / C] * C for _ in range(C)]
        for c, row in enumerate(counts):
            found = [
                (max(mean), label)
                for mean, label in zip(self.means, labels, strict=True)
                if sum(mean) and mean.index(max(mean)) == c
            ]
            if self.is_settled and found:
                middle = sorted(found, reverse=True)[(len(found) - 1) // 2][0]
                found = [pair for pair in found if pair[0] >= middle]
            for _, label in found:
                row[label] += 1
        return [[n / sum(row) for n in row] for row in counts]

    def likely(self, labels):
        noise = self.noise(labels)
        answer = []
        for mean, label in zip(self.means, labels, strict=True):
            joint = [mean[j] * noise[j][label] for j in range(C)]
            answer.append([v / sum(joint) if sum(joint) else 0.0 for v in joint])
        return answer


def likely_of_all(opinion, labels):
    return opinion.likely(labels, torch.arange(len(labels)), opinion.noise(labels))


def is_undecided(naive):
    """Whether two choices are so close that rounding may decide between them."""
    means = [mean for mean in naive.means if sum(mean)]
    if naive.is_tied or any(max(m) - sorted(m)[-2] < 1e-6 for m in means):
        return True
    surest = sorted((m.index(max(m)), max(m)) for m in means)
    return naive.is_settled and any(
        a[0] == b[0] and b[1] - a[1] < 1e-6 for a, b in itertools.pairwise(surest)
    )


@given(visits_made, labels_of, parts_of, lengths, st.booleans())
def test_likelihoods_equal_those_of_the_naive_twin(visits, labels, parts, q, is_end):
    naive = NaiveOpinion(visits, parts, q)
    opinion = opinion_after(visits, labels, parts, q)
    if is_end:
        naive.settle(labels)
        opinion.settle(torch.tensor(labels))
    if is_undecided(naive):
        return
    given = torch.tensor(labels)
    noise = opinion.noise(given)
    assert noise.numpy() == pytest.approx(np.array(naive.noise(labels)))
    expected = np.array(naive.likely(labels))
    found = likely_of_all(opinion, given)
    assert found.numpy() == pytest.approx(expected, abs=1e-5)
    some = torch.tensor([4, 0])
    assert torch.equal(opinion.likely(given[some], some, noise), found[some])


@given(visits_made, labels_of, parts_of, lengths, epsilons)
def test_a_judgement_follows_from_the_likelihoods(visits, labels, parts, q, epsilon):
    opinion = opinion_after(visits, labels, parts, q, epsilon)
    given = torch.tensor(labels)
    judged = opinion.judge_all(given)
    for i, likely in enumerate(likely_of_all(opinion, given).tolist()):
        best = likely.index(max(likely))
        is_safe = likely[labels[i]] >= 0.5
        is_clear = max(likely) >= 1 - epsilon and max(likely) > 0
        is_corrected = is_clear and not is_safe and best != labels[i]
        assert judged.is_safe[i] == is_safe
        assert judged.is_corrected[i] == is_corrected
        assert judged.is_learnt[i] == (is_safe or is_corrected)
        assert judged.labels[i] == (best if is_corrected else labels[i])
        assert judged.likely_right[i] == likely[labels[i]]
        assert judged.best[i] == best
        believed = likely[best if is_corrected else labels[i]]
        assert judged.doubt[i] == pytest.approx(1 - believed, abs=1e-6)
    assert torch.equal(opinion.agrees(given), judged.is_safe)


@given(visits_made, labels_of, parts_of, lengths, st.randoms(use_true_random=False))
def test_only_the_network_that_leaves_a_sample_out_is_asked(
    visits, labels, parts, q, random
):
    """Whatever the learners of a sample say, its judgement stays the same."""
    changed = []
    for index, logits in visits:
        other = list(logits)
        for j, i in enumerate(index):
            for k in set(range(K)) - {parts[i]}:
                start = (k * N + j) * C
                other[start : start + C] = [random.uniform(-5, 5) for _ in range(C)]
        changed.append((index, other))
    given = torch.tensor(labels)
    before, after = (opinion_after(v, labels, parts, q) for v in (visits, changed))
    assert torch.equal(likely_of_all(before, given), likely_of_all(after, given))


@given(visits_made, labels_of, parts_of, lengths)
def test_noise_is_a_matrix_of_frequencies(visits, labels, parts, q):
    noise = opinion_after(visits, labels, parts, q).noise(torch.tensor(labels))
    assert (noise > 0).all()
    assert noise.sum(dim=1).tolist() == pytest.approx([1] * C)


def test_a_sample_without_an_opinion_is_neither_safe_nor_corrected():
    opinion = LeftOutOpinion(torch.zeros(N, dtype=torch.int64), C, 3, epsilon=1.0)
    judged = opinion.judge_all(torch.zeros(N, dtype=torch.int64))
    assert not opinion.is_visited().any()
    assert not judged.is_learnt.any()


def test_a_rare_mistake_needs_less_in_favour_of_a_label():
    """Class 1 is often labelled 0 and never 2: label 2 is believed sooner."""
    index = torch.arange(20)
    opinion = LeftOutOpinion(torch.zeros(20, dtype=torch.int64), C, 1, 0.05)
    labels = torch.tensor([1] * 10 + [0] * 8 + [0, 2])
    probability = torch.tensor([[0.2, 0.6, 0.2]]).repeat(20, 1)
    opinion.add(index, probability)
    judged = opinion.judge_all(labels)
    assert judged.is_safe[:10].all()
    assert not judged.is_safe[10:19].any()
    assert judged.likely_right[19] > judged.likely_right[18]


@given(visits_made, labels_of, parts_of, lengths, st.integers(0, 8), st.integers(1, 3))
def test_each_network_learns_what_the_judges_of_others_trust(
    visits, labels, parts, q, stop_epoch, n_batches
):
    opinion = LeftOutOpinion(torch.tensor(parts), C, q, 0.05)
    twin = LeftOutOpinion(torch.tensor(parts), C, q, 0.05)
    given = torch.tensor(labels)
    policy = LearnWhatJudgesTrust(opinion, given)
    noise, counted_in = None, -1
    for number, visit in enumerate(visits):
        epoch = number // n_batches
        batch = batch_of(visit, labels, epoch)
        policy.is_judging = epoch >= stop_epoch
        selection = policy.select(batch)
        twin.add_batch(batch)
        may_learn = torch.tensor([[parts[i] != k for i in visit[0]] for k in range(K)])
        if epoch < stop_epoch:
            assert torch.equal(selection.weights, may_learn.float())
            assert selection.labels is None
            continue
        if counted_in != epoch:  # once an epoch
            noise, counted_in = twin.noise(given), epoch
        judged = twin.judge(batch.labels, batch.index, noise)
        expected = may_learn & judged.is_learnt
        assert torch.equal(selection.weights, expected.float())
        assert torch.equal(selection.labels, judged.labels)


def test_what_has_become_unlikely_is_so_in_the_end():
    """A class thought possible at first lingers in one mean and not in the other."""
    opinion = LeftOutOpinion(torch.zeros(1, dtype=torch.int64), C, 4, 0.05)
    everything, index = torch.tensor([[0.4, 0.3, 0.3]]), torch.tensor([0])
    opinion.add(index, everything)
    for _ in range(3):
        opinion.add(index, torch.tensor([[0.9999, 0.0001, 0.0]]))
    level = torch.full((C, C), 1 / C)
    before = opinion.likely(torch.tensor([0]), index, level)
    opinion.settle(torch.tensor([0]))
    after = opinion.likely(torch.tensor([0]), index, level)
    assert before[0, 2] > 0.04
    assert 0 < after[0, 2] < 0.001


def test_judges_who_are_too_sure_are_believed_less_in_the_end():
    """Of three samples two are clear; in the third, the label is as often another."""
    n_samples = 180
    index = torch.arange(n_samples)
    labels = index % C
    is_clear = index // C % 3 > 0
    is_other = ~is_clear & (index // 9 % 2 == 0)
    top = torch.where(is_other, (labels + 1) % C, labels)
    second = torch.where(is_other, labels, (labels + 1) % C)
    probability = torch.full((n_samples, C), 1e-6)
    probability[index, second] = torch.where(is_clear, 1e-6, 0.05)
    probability[index, top] = torch.where(is_clear, 1.0, 0.95)
    opinion = LeftOutOpinion(torch.zeros_like(index), C, 1, 0.05)
    opinion.add(index, probability)
    noise = opinion.noise(labels)
    level = torch.full((C, C), 1 / C)
    opinion.settle(labels)
    after = opinion.likely(labels, index, level)

    def flattened(temperature):
        power = probability.double() ** (1 / temperature)
        return power / power.sum(dim=1, keepdim=True)

    def fit(temperature):
        return (flattened(temperature) * noise.t()[labels]).sum(dim=1).log().sum()

    best = max((2 ** (step / 10) for step in range(21)), key=fit)
    assert best > 2
    assert after.numpy() == pytest.approx(flattened(best).numpy(), abs=1e-4)


def judgement_of(is_safe, is_corrected, labels, doubt):
    return Judgement(
        is_safe=torch.tensor(is_safe),
        is_corrected=torch.tensor(is_corrected),
        labels=torch.tensor(labels),
        likely_right=torch.ones(len(labels)),
        best=torch.tensor(labels),
        doubt=torch.tensor(doubt),
    )


def test_a_judgement_without_doubt_is_learnt_as_it_is():
    judged = judgement_of(
        is_safe=[True, False, False, True],
        is_corrected=[False, True, False, False],
        labels=[0, 2, 1, 1],
        doubt=[0.0, 0.0, 0.9, 0.0],
    )
    policy = LearnAsJudged(judged)
    index = torch.tensor([3, 1, 2])
    given = torch.tensor([1, 0, 1])
    logits = torch.zeros(2, 3, C)
    selection = policy.select(Batch(index, given, logits, torch.zeros(2, 3), 99))
    assert selection.weights.tolist() == [[1, 1, 0]] * 2
    assert selection.labels.tolist() == [1, 2, 1]
    assert policy.epoch_summary()["corrected_fraction"] == pytest.approx(1 / 3)


def test_a_judgement_that_leaves_nothing_to_learn():
    policy = LearnAsJudged(judgement_of([False], [False], [0], [0.7]))
    index = torch.tensor([0])
    batch = Batch(index, index, torch.zeros(2, 1, C), torch.zeros(2, 1), 99)
    assert policy.select(batch).weights.tolist() == [[0], [0]]


@given(
    visit,
    labels_of,
    labels_of,
    st.lists(st.sampled_from(["safe", "corrected", ""]), min_size=N, max_size=N),
    st.lists(st.sampled_from([0.0, 0.2, 0.5]), min_size=N, max_size=N),
    st.sampled_from([0, 4, 9, 30]),
)
def test_each_fresh_network_leaves_out_what_the_other_finds_least_likely(
    visit, labels, others, found, doubt, epoch
):
    is_safe, is_corrected = (
        [f == kind for f in found] for kind in ("safe", "corrected")
    )
    is_learnt = [bool(f) for f in found]
    to_learn = np.where(is_corrected, others, labels).tolist()
    judged = judgement_of(is_safe, is_corrected, to_learn, doubt)
    batch = batch_of(visit, labels, epoch)
    policy = LearnAsJudged(judged)
    weights = policy.select(batch).weights
    index = visit[0]
    doubts = [doubt[i] for i in range(N) if is_learnt[i]]
    share = sum(doubts) / len(doubts) if doubts else 0.0
    learnt = [j for j, i in enumerate(index) if is_learnt[i]]
    expected = share * min((epoch + 1) / 10, 1) * len(learnt)
    likely = torch.softmax(batch.logits, dim=2)
    for network in range(K):
        kept = [j for j in range(len(index)) if weights[network, j]]
        assert set(kept) <= set(learnt)
        n_left_out = len(learnt) - len(kept)
        assert expected - 1 - 1e-5 < n_left_out < expected + 1e-5
        of_other = {
            j: likely[1 - network, j, to_learn[index[j]]].item() for j in learnt
        }
        of_kept = sorted(of_other[j] for j in kept)
        assert sorted(of_other.values())[len(learnt) - len(kept) :] == of_kept
    is_changed = [to_learn[i] != labels[i] for i in index]
    n_changed = int((weights.any(dim=0) & torch.tensor(is_changed)).sum())
    changed = policy.epoch_summary()["corrected_fraction"]
    assert changed == pytest.approx(n_changed / len(index))


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=40),
    st.integers(2, 7),
    st.integers(0, 99),
)
def test_parts_are_of_equal_size_in_every_class(labels, n_parts, seed):
    labels = np.array(labels)
    parts = divide(labels, n_parts, np.random.RandomState(seed))
    is_only = np.bincount(labels)[labels] == 1
    assert (parts[is_only] == -1).all()
    shared = np.unique(labels[~is_only])
    for chosen in (~is_only, *(labels == label for label in shared)):
        sizes = np.bincount(parts[chosen], minlength=n_parts)
        assert sizes.max() - sizes.min() <= 1


def test_all_learn_from_a_sample_that_nobody_leaves_out():
    opinion = LeftOutOpinion(torch.tensor([-1, 0]), C, 1, 0.05)
    logits = torch.tensor([[[0.0, 0, 9], [0, 9, 0]], [[9.0, 0, 0], [0, 0, 9]]])
    index, labels = torch.arange(2), torch.tensor([0, 1])
    batch = Batch(index, labels, logits, torch.zeros(K, 2), 0)
    assert opinion.add_batch(batch).tolist() == [[True, False], [True, True]]
    assert opinion.judge_all(labels).best.tolist() == [0, 1]


def test_the_trainer_s_q_and_the_epsilon_given_are_used(make_trainer):
    trainer = make_trainer()
    rng = np.random.RandomState(0)
    opinion = run_cross_fit(trainer, 2, 1, 2, 0.125, rng)
    assert (opinion.q, opinion.epsilon) == (trainer.label_history.length, 0.125)
    assert opinion.is_visited().all()
    assert len(trainer.net.networks) == 2


@pytest.mark.parametrize(
    ("trusts_half", "phases", "has_opinion"),
    [
        ([True, True], [1, 1] + [2] * 8, True),
        ([False, False, True, True], [1] * 4 + [2] * 6, True),
        ([False] * 4, [1] * 5, False),
        ([True, False], [1, 1] + [2] * 8, False),
    ],
    ids=["at once", "after a while", "not by half of the epochs", "not in the end"],
)
def test_judges_are_heard_once_they_trust_half_of_the_labels(
    make_trainer, monkeypatch, trusts_half, phases, has_opinion
):
    trainer = make_trainer()
    answers = iter(trusts_half)
    monkeypatch.setattr(cross_fit, "_can_judge", lambda *_: next(answers))
    opinion = run_cross_fit(trainer, 2, 2, 10, 0.05, np.random.RandomState(0))
    assert [record.phase for record in trainer.records] == phases
    assert (opinion is not None) == has_opinion


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.floats(0, 0.9))
def test_in_the_long_run_as_many_are_left_out_as_are_wrong(sizes, share):
    """However small the batches: what is left of a label counts for the next one."""
    n_samples = sum(sizes)
    everything, nothing = [True] * n_samples, [False] * n_samples
    policy = LearnAsJudged(
        judgement_of(everything, nothing, [0] * n_samples, [share] * n_samples)
    )
    n_left_out = 0
    for index in torch.arange(n_samples).split(sizes):
        b = len(index)
        batch = Batch(
            index, torch.zeros_like(index), torch.rand(K, b, C), torch.zeros(K, b), 99
        )
        kept = policy.select(batch).weights.sum(dim=1).tolist()
        assert kept == [kept[0]] * K
        n_left_out += b - int(kept[0])
    assert share * n_samples - 1.001 < n_left_out < share * n_samples + 0.001


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99)), min_size=1, max_size=30)
)
def test_the_surest_half_of_every_class(samples):
    classes, sureness = (torch.tensor(column) for column in zip(*samples, strict=True))
    is_sure = is_surest_half(sureness / 100, classes)
    for c in classes.unique():
        of_class = sureness[classes == c]
        middle = of_class.sort(descending=True).values[(len(of_class) - 1) // 2]
        assert torch.equal(is_sure[classes == c], of_class >= middle)


def test_mistakes_of_unsure_judges_do_not_pass_for_noise_in_the_end():
    """Of six samples of class 0 judged, the two unsure ones are labelled 1."""
    opinion = LeftOutOpinion(torch.zeros(6, dtype=torch.int64), C, 1, 0.05)
    labels = torch.tensor([0, 0, 0, 0, 1, 1])
    probability = torch.tensor([[0.9, 0.05, 0.05]] * 4 + [[0.5, 0.45, 0.05]] * 2)
    opinion.add(torch.arange(6), probability)
    before = opinion.noise(labels)[0, 1]
    opinion.settle(labels)
    after = opinion.noise(labels)[0, 1]
    assert before == pytest.approx((2 + 1 / 3) / 7)
    assert after == pytest.approx((1 / 3) / 5)
    assert opinion.agrees(labels).all()


def test_wrong_labels_of_a_part_do_not_reach_the_network_that_leaves_it_out(
    make_trainer,
):
    """Up to the stop point, network 0 is the same whatever its part is labelled."""

    def networks(change):
        trainer = make_trainer()
        n_samples, n_classes = len(trainer.labels), trainer.data.n_classes
        parts = torch.arange(n_samples) % 2
        if change:
            trainer.labels[parts == 0] = (trainer.labels[parts == 0] + 1) % n_classes
            trainer.data.labels[parts == 0] = trainer.labels[parts == 0]
        torch.manual_seed(0)
        trainer.restart(n_networks=2)
        opinion = LeftOutOpinion(parts, n_classes, 3, 0.05)
        trainer.run(LearnWhatJudgesTrust(opinion, trainer.labels), 3)
        return trainer.net.networks

    before, after = networks(change=False), networks(change=True)
    same = [
        all(map(torch.equal, a.parameters(), b.parameters()))
        for a, b in zip(before, after, strict=True)
    ]
    assert same == [True, False]
