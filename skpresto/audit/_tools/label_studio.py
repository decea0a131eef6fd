"""Suspects as tasks of Label Studio, and its export as decisions."""

import json
from typing import Any
from xml.etree import ElementTree

import skpresto
from skpresto.audit._tools.exported import Exported

#: Name of the choices in the labeling config, and of our entry in the data of a task.
_CHOICES, _OURS = "label", "skpresto"
#: Tags that show a sample, by the key of the data, the first ones preferred.
_TAGS = {"image": "Image", "text": "Text", "values": "Table", "name": "Text"}
#: Classes from which on they are chosen from a list.
_MANY_CLASSES = 20


def tasks_text(exported: Exported, top: int | None, control: bool = False) -> str:
    """Return suspects as tasks with the suggested label as prediction.

    Parameters
    ----------
    exported : Exported
        The report.
    top : int or None
        Number of suspects; None means all.
    control : bool, default=False
        The control sample in place of the suspects, without predictions.
    """
    positions = exported.controls() if control else exported.suspects(top)
    found, samples = exported.findings(positions), exported.samples(positions)
    about, spelled = exported.about, exported.about.spelled
    source = {
        "source": about.title,
        "kind": about.kind,
        "label": about.label_name,
        "id_name": about.id_name,
        "fingerprint": exported.fingerprint,
        "is_control": control,
    }
    shown_by = _object_of(samples)
    tasks = []
    for i, finding, sample in zip(positions.tolist(), found, samples, strict=True):
        given = finding["given"] if spelled is None else str(spelled[i])
        ours = {**source, "row": finding["row"], "id": finding.get("id")}
        ours |= {"given": given, "class": finding["given"]}
        data = {"name": finding["name"], "given": finding["given"], **sample}
        if not control:
            data |= {name: finding[name] for name in ("quality", "probabilities")}
        task: dict[str, Any] = {"data": {**data, _OURS: ours}}
        if not control:
            task["predictions"] = [_prediction(finding, shown_by)]
        tasks.append(task)
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def labeling_config(exported: Exported) -> str:
    """Return the labeling config that belongs to the tasks, as XML."""
    keys = exported.samples(exported.report.order[:1])[0]
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value="$name")
    for key, tag in _TAGS.items():
        if key in keys or (key == "name" and not keys):
            ElementTree.SubElement(view, tag, name=key, value=f"${key}")
    ElementTree.SubElement(view, "Header", value="Given: $given")
    options = {"name": _CHOICES, "toName": _object_of([keys]), "choice": "single"}
    if len(exported.report.classes) > _MANY_CLASSES:
        options["layout"] = "select"
    choices = ElementTree.SubElement(view, "Choices", {**options, "required": "true"})
    for label in exported.report.classes:
        ElementTree.SubElement(choices, "Choice", value=str(label))
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def decisions_of(tasks: list[Any]) -> dict[str, Any] | None:
    """Return the decisions of an export of Label Studio; None if it is none of ours.

    A task that was skipped, or on which annotators differ, is undecided; annotations
    that are marked as ground truth count before others.

    Parameters
    ----------
    tasks : list
        The content of a file in the export format "JSON".
    """
    ours = [t["data"][_OURS] for t in tasks if _is_task(t)]
    if len({o["fingerprint"] for o in ours}) != 1:
        return None
    made = [_decision(task) for task in tasks if _is_task(task) and _annotations(task)]
    return {
        "format": "skpresto decisions",
        "version": 3,
        "id": ours[0]["id_name"],
        **{name: ours[0][name] for name in ("source", "kind", "label", "fingerprint")},
        "decisions": made,
    }


def _object_of(samples: list[dict[str, Any]]) -> str:
    """Return the key of what is labeled."""
    keys = samples[0] if samples else {}
    return next(key for key in _TAGS if key in keys or key == "name")


def _prediction(finding: dict[str, Any], shown_by: str) -> dict[str, Any]:
    choice = {
        "id": f"row{finding['row']}",
        "from_name": _CHOICES,
        "to_name": shown_by,
        "type": "choices",
        "value": {"choices": [finding["suggested"]]},
    }
    version = f"skpresto {skpresto.__version__}"
    return {"model_version": version, "score": finding["score"], "result": [choice]}


def _is_task(task: Any) -> bool:
    data = task.get("data") if isinstance(task, dict) else None
    return isinstance(data, dict) and isinstance(data.get(_OURS), dict)


def _annotations(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the annotations that count."""
    made = task.get("annotations") or []
    return [a for a in made if a.get("ground_truth")] or made


def _decision(task: dict[str, Any]) -> dict[str, Any]:
    ours = task["data"][_OURS]
    answers = [_answer(annotation, ours) for annotation in _annotations(task)]
    is_agreed = all(answer["label"] == answers[0]["label"] for answer in answers)
    label = answers[0]["label"] if is_agreed else None
    known = {name: ours[name] for name in ("row", "id", "given")}
    record = {**known, **_implied(label, ours)}
    if len(answers) > 1:
        record["opinions"] = answers
    else:
        record["by"] = answers[0]["by"]
    if ours["is_control"]:
        record["control"] = _implied(label, ours)
        record["wrong"] = None if label is None else label != ours["given"]
    return record


def _answer(annotation: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return what an annotator decided: the label as the data spells it."""
    results = [] if annotation.get("was_cancelled") else annotation["result"]
    chosen = [r["value"]["choices"] for r in results if r["from_name"] == _CHOICES]
    label = chosen[0][0] if chosen and chosen[0] else None
    if label == ours["class"]:
        label = ours["given"]
    who = annotation.get("completed_by")
    who = who.get("email") or who.get("id") if isinstance(who, dict) else who
    return {"by": f"Label Studio user {who}", **_implied(label, ours)}


def _implied(label: str | None, ours: dict[str, Any]) -> dict[str, Any]:
    kept = "keep" if label == ours["given"] else "other"
    return {"decision": "unsure" if label is None else kept, "label": label}
