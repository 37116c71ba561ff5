"""Which tools are linked, through which fields, and which links are the more certain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.derived_libraries import (
    DETAIL,
    FILM,
    FILMS,
    NUMBER,
    REVIEW,
    REVIEWS,
    SEARCH,
    TEXT,
    library_of,
    links_of,
    many,
    mcp_tool,
    operation,
    pairs_of,
    record,
)
from toolassay.graph.derive import Derivation

UUID = {"type": "string", "format": "uuid"}
EMAIL = {"type": "string", "format": "email"}
CREATE = operation("POST /orders", record("id", "status"), needs={"product": TEXT})
ORDER = {"order_id": TEXT}


def score(source: Mapping[str, Any], target: Mapping[str, Any], *others: Mapping[str, Any]) -> float:
    """The score of the link between two tools; 0 if there is none."""
    link = links_of(source, target, *others).get((source["id"], target["id"]))
    return link.score if link else 0.0


def test_a_search_leads_to_a_detail_and_that_to_what_is_within() -> None:
    links = links_of(*FILMS)
    assert {pair: pairs_of(link) for pair, link in links.items()} == {
        (SEARCH["id"], DETAIL["id"]): [("results[].id", "movie_id")],
        (SEARCH["id"], REVIEWS["id"]): [("results[].id", "movie_id")],
        (REVIEWS["id"], REVIEW["id"]): [("results[].id", "review_id")],
    }
    link = links[SEARCH["id"], DETAIL["id"]]
    assert (link.type, link.kind, link.origin) == ("movie_id", "dependency", "schema")
    assert link.score > 0.85
    assert "`movie_id` is required" in link.reasons


def test_a_detail_that_echoes_its_argument_leads_nowhere() -> None:
    other = operation("GET /movie/{movie_id}/credits", record(id=NUMBER))
    assert not links_of(DETAIL, other)
    # The films alike are others.
    alike = operation("GET /movie/{movie_id}/similar", record(results=many({**FILM, "title": "Movie"})))
    assert score(alike, other) > 0.5


def test_what_was_created_can_be_read_and_deleted_but_not_used_after() -> None:
    read = operation("GET /orders/{order_id}", record("id"), needs=ORDER)
    delete = operation("DELETE /orders/{order_id}", record("id", "order_id"), needs=ORDER)
    links = links_of(CREATE, read, delete)
    assert set(links) == {(CREATE["id"], read["id"]), (CREATE["id"], delete["id"])}
    assert pairs_of(links[CREATE["id"], read["id"]]) == [("id", "order_id")]


def test_an_operation_with_a_bare_result_says_the_order_of_reading_making_and_changing() -> None:
    bare = {"type": "object"}
    make = operation("POST /pages", bare, needs={"title": TEXT})
    read, change = (operation(f"{verb} /pages/{{page_id}}", bare) for verb in ("GET", "PATCH"))
    links = links_of(make, read, change)
    assert set(links) == {(make["id"], read["id"]), (make["id"], change["id"]), (read["id"], change["id"])}
    assert not any(map(pairs_of, links.values()))


def test_a_removal_gives_nothing() -> None:
    archive = mcp_tool("archive_order", record("order_id"), needs={"day": TEXT})
    assert not links_of(archive, mcp_tool("get_order", needs=ORDER))
    assert not links_of(mcp_tool("delete_order", needs={"day": TEXT}), mcp_tool("get_order", needs=ORDER))


@pytest.mark.parametrize(
    ("given", "taken", "least", "most"),
    [
        (TEXT, TEXT, 0.8, 1),
        ({}, TEXT, 0.8, 1),
        (NUMBER, {"type": "number"}, 0.7, 0.82),
        (NUMBER, TEXT, 0.6, 0.8),
        (TEXT, NUMBER, 0.5, 0.75),
        (TEXT, {"type": "string", "enum": ["a"]}, 0.2, 0.5),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, 0.8, 1),
        ({"enum": ["a"]}, {"enum": ["b"]}, 0, 0),
        ({"type": "boolean"}, NUMBER, 0, 0),
    ],
)
def test_types_formats_and_values_must_agree(given: Any, taken: Any, least: float, most: float) -> None:
    source = operation("GET /films", many(record(id=given)))
    assert least <= score(source, operation("GET /film", needs={"film_id": taken})) <= most


def test_several_fields_flow_through_one_link() -> None:
    found = record("name", owner=record("login"))
    search = operation("GET /search/repositories", record(items=many(found)), needs={"q": TEXT})
    needs = {"owner": TEXT, "repo": TEXT}
    commits = operation("GET /repos/{owner}/{repo}/commits", many(record("sha")), needs=needs)
    commit = operation("GET /repos/{owner}/{repo}/commits/{sha}", record("sha"), needs={**needs, "sha": TEXT})
    links = links_of(search, commits, commit)
    both = {("items[].owner.login", "owner"), ("items[].name", "repo")}
    assert set(pairs_of(links[search["id"], commits["id"]])) == both
    assert pairs_of(links[commits["id"], commit["id"]]) == [("[].sha", "sha")]
    # What the first of two calls was asked with is known at the second; a search does not know the commit.
    link = links[commits["id"], commit["id"]]
    assert [pair.target for pair in link.shared] == ["owner", "repo"]
    assert link.reasons[-1] == "`owner`, `repo`: the one that the source was asked with"
    assert links[search["id"], commit["id"]].reasons[-1] == "`sha` must come from elsewhere"
    assert links[search["id"], commit["id"]].score < links[search["id"], commits["id"]].score


def test_a_field_fills_one_argument() -> None:
    accounts = operation("GET /accounts", many(record(id=NUMBER)))
    transfer = operation("POST /transfers", needs={"from_account_id": NUMBER, "to_account_id": NUMBER})
    link = links_of(accounts, transfer)[accounts["id"], transfer["id"]]
    assert pairs_of(link) == [("[].id", "from_account_id")]
    assert link.reasons[-1] == "`to_account_id` must come from elsewhere"


def test_a_search_that_may_be_narrowed_finds_what_a_change_needs_but_not_what_it_sets() -> None:
    person = record("person_id", "phone_number")
    search = mcp_tool("search_contacts", many(person), takes={"person_id": TEXT, "phone_number": TEXT})
    change = mcp_tool("modify_contact", needs={"person_id": TEXT}, takes={"phone_number": TEXT})
    text = mcp_tool("send_text", needs={"phone_number": TEXT, "content": TEXT})
    links = links_of(search, change, text)
    assert pairs_of(links["search_contacts", "modify_contact"]) == [("[].person_id", "person_id")]
    assert pairs_of(links["search_contacts", "send_text"]) == [("[].phone_number", "phone_number")]


def test_a_list_of_ids_is_filled_by_the_ids_of_a_list() -> None:
    genres = operation("GET /genres", many(record(id=NUMBER)))
    discover = operation("GET /discover", needs={"genre_ids": many(NUMBER)})
    assert pairs_of(links_of(genres, discover)[genres["id"], discover["id"]]) == [("[].id", "genre_ids")]


def test_the_items_of_one_thing_are_not_that_thing() -> None:
    rename = operation("PUT /playlists/{playlist_id}", needs={"name": TEXT})
    page = record("next", items=many(record(item=record("title", id=NUMBER))))
    one = operation("GET /playlists/{playlist_id}", record("name", id=NUMBER, items=page))
    several = operation("GET /playlists", record("next", items=many(record("name", id=NUMBER))))
    found = links_of(one, several, rename)
    assert pairs_of(found[several["id"], rename["id"]]) == [("items[].id", "playlist_id")]
    assert (one["id"], rename["id"]) not in found


def test_items_whose_schema_has_a_name_are_not_whatever_the_list_is_called() -> None:
    artist = {**record("name", "uri"), "title": "Artist"}
    top = operation("GET /me/top/artists", record("next", items=many(artist)))
    add = operation("POST /playlists/{playlist_id}/items", needs={"uris": many(TEXT)})
    assert (top["id"], add["id"]) not in links_of(top, add)


def test_a_list_with_an_id_of_its_own_is_not_what_it_lists() -> None:
    own = {**record("name", id=TEXT), "title": "TaskListResponse"}
    one = operation("GET /users/{user_id}/task_list", record(data=own))
    show = operation("GET /tasks/{task_id}", record("title"))
    rows = operation("GET /tasks", {**many(record("name", id=TEXT)), "title": "TaskList"})
    found = links_of(one, show, rows)
    assert (one["id"], show["id"]) not in found and (rows["id"], show["id"]) in found


def test_what_only_calls_that_write_need_is_not_the_same_in_both() -> None:
    needs = {"topic_id": NUMBER, "raw": TEXT}
    read = mcp_tool("read_topic", record("title"), needs={"topic_id": NUMBER})
    topic = mcp_tool("create_topic", record(topic_id=NUMBER), needs={"raw": TEXT})
    post = mcp_tool("create_post", record(topic_id=NUMBER), needs=needs)
    change = mcp_tool("update_topic", record("state"), needs=needs)
    found = links_of(read, topic, post, change)
    assert [pair.target for pair in found["read_topic", "update_topic"].shared] == ["topic_id"]
    assert found["create_topic", "create_post"].shared == ()


def test_an_argument_that_every_tool_takes_counts_little() -> None:
    teams = operation("GET /teams", many(record("id")))
    target = operation("GET /a0", needs={"team_id": TEXT})
    with_team = [operation(f"GET /a{n}", needs={"team_id": TEXT}) for n in range(1, 40)]
    without = [operation(f"GET /b{n}", needs={"film_id": TEXT}) for n in range(1, 40)]
    assert score(teams, target, *with_team) < 0.6 * score(teams, target, *without[:30])
    assert score(teams, target, *with_team) > 0


# Tools without output schemas


NOTES = mcp_tool("search_notes", needs={"query": TEXT}, description="Searches the notes.")
NOTE = mcp_tool("read_note", needs={"note_id": TEXT}, description="Reads one of the notes.")


def test_tools_without_output_schema_have_weaker_links_that_say_the_order() -> None:
    link = links_of(NOTES, NOTE)["search_notes", "read_note"]
    assert (link.origin, link.type, link.kind, link.fields) == ("description", "order", "observed", ())
    with_schema = {**NOTES, "output_schema": many(record("id", "text"))}
    assert 0.3 < link.score < score(with_schema, NOTE)
    assert links_of(with_schema, NOTE)["search_notes", "read_note"].origin == "schema"


@pytest.mark.parametrize(
    "gives",
    [
        {"type": "object"},
        many({}),
        record(result={"type": "object", "additionalProperties": True}),
        record(result={"anyOf": [many({}), {"type": "null"}]}),
        {"$ref": "#/$defs/N", "$defs": {"N": {"properties": {"data": {}, "next": {"$ref": "#/$defs/N"}}}}},
        TEXT,
    ],
)
def test_no_value_flows_from_a_result_of_unknown_shape(gives: dict[str, Any]) -> None:
    link = links_of({**NOTES, "output_schema": gives}, NOTE)["search_notes", "read_note"]
    assert (link.kind, link.fields) == ("observed", ())


@pytest.mark.parametrize(
    "gives",
    [
        {"type": "boolean"},
        record(done={"type": "boolean"}),
        record("author"),
        record("author", lines=many(record("author"))),
    ],
)
def test_a_result_that_is_declared_to_be_something_else_fills_nothing(gives: dict[str, Any]) -> None:
    found = links_of({**NOTES, "output_schema": gives}, NOTE)
    assert not any(link.fields for link in found.values())


USER_ID = mcp_tool("get_user_id_by_email", TEXT, needs={"email": TEXT})


@pytest.mark.parametrize(
    ("gives", "path"),
    [(TEXT, ""), (record(result=TEXT), "result"), (None, None), ({"type": "boolean"}, None)],
)
def test_a_declared_scalar_that_the_name_says_fills_an_argument(gives: Any, path: str | None) -> None:
    links = links_of({**USER_ID, "output_schema": gives}, mcp_tool("get_user", needs={"user_id": TEXT}))
    link = links.get(("get_user_id_by_email", "get_user"))
    assert (pairs_of(link) if link else []) == ([] if path is None else [(path, "user_id")])


def test_an_identifier_keeps_its_kind() -> None:
    users = mcp_tool("find_users", record(users=many(record(id=NUMBER))), needs={"query": TEXT})
    assert not score(users, mcp_tool("open_category", needs={"category_id": NUMBER}))
    assert not score(users, mcp_tool("invite", needs={"user_email": TEXT}))
    assert pairs_of(links_of(users, mcp_tool("mute", needs={"user_id": NUMBER}))["find_users", "mute"]) == [
        ("users[].id", "user_id")
    ]
    assert not any(
        link.fields for link in links_of(USER_ID, mcp_tool("invite", needs={"user_email": TEXT})).values()
    )


def test_two_measures_come_together_or_not_at_all() -> None:
    number = {"type": "number"}
    forecast = mcp_tool("get_forecast", needs={"latitude": number, "longitude": number})
    place = mcp_tool("find_place", record(latitude=number, longitude=number), needs={"city": TEXT})
    link = links_of(place, forecast)["find_place", "get_forecast"]
    assert set(pairs_of(link)) == {("latitude", "latitude"), ("longitude", "longitude")}
    assert not links_of(mcp_tool("find_place", record(latitude=number), needs={"city": TEXT}), forecast)


def test_a_tool_that_reads_comes_before_one_that_changes_the_same_thing() -> None:
    read = mcp_tool("get_order_details", needs=ORDER, description="Gets the details of an order.")
    cancel = mcp_tool("cancel_order", needs=ORDER, description="Cancels an order.")
    link = links_of(read, cancel)["get_order_details", "cancel_order"]
    assert (link.kind, link.fields) == ("observed", ())
    assert [(one.source, one.target) for one in link.shared] == [("order_id", "order_id")]
    assert not score(cancel, read)


@pytest.mark.parametrize(
    "name",
    [
        "B",
        "BikeDTO",
        "Result",
    ],
)
def test_the_name_of_a_schema_does_not_matter_where_a_field_says_what_it_is(name: str) -> None:
    bikes = record(result=many({"$ref": f"#/$defs/{name}"}))
    bikes["$defs"] = {name: record("bike_id", "model") | {"title": name}}
    source = mcp_tool("list_bikes", bikes, description="List the bikes.")
    link = links_of(source, mcp_tool("book", needs={"bike_id": TEXT}))["list_bikes", "book"]
    assert (link.origin, pairs_of(link)) == ("schema", [("result[].bike_id", "bike_id")])
    assert link.score > 0.7


def test_a_description_that_names_another_tool_links_them() -> None:
    uid = {"type": "string", "description": "The uid that take_snapshot returned."}
    snapshot = mcp_tool("take_snapshot", description="Shows the page.")
    link = links_of(snapshot, mcp_tool("press", needs={"uid": uid}))["take_snapshot", "press"]
    assert link.reasons[0] == "the description of `uid` names `take_snapshot`"
    assert link.origin == "description"
    assert not score(
        mcp_tool("snapshot"),
        mcp_tool("press", needs={"uid": {**uid, "description": "What a snapshot marks."}}),
    )


# Explanations


def test_a_link_that_is_too_weak_is_explained_as_none() -> None:
    title = operation("GET /films", many(record("title")))
    by_name = operation("GET /film", takes={"film_key": EMAIL})
    source = operation("GET /films", many(record(id=UUID)))
    assert not links_of(source, by_name)
    assert (
        Derivation(library_of(source, by_name))
        .explain(source["id"], by_name["id"])[0]
        .endswith(": not a link")
    )
    assert (
        Derivation(library_of(title, by_name)).explain(title["id"], by_name["id"])[0].startswith("no field")
    )


def named(name: str, tool: dict[str, Any]) -> dict[str, Any]:
    """An operation with a name of its own."""
    return {**tool, "source": {**tool["source"], "name": name}}


def test_short_parts_of_paths_formats_and_ages_of_collections() -> None:
    topic = named("getTopic", operation("GET /t/{id}.json", record("title")))
    lock = named("lockPost", operation("PUT /posts/{id}/locked.json", record("ok")))
    member = named("getMember", operation("GET /u/{username}.json", record("bio")))
    posts = record(id=NUMBER, topic_id=NUMBER, username=TEXT, post_number=NUMBER)
    recent = named("listRecent", operation("GET /posts.json", record(latest_posts=many(posts))))
    links = links_of(topic, lock, member, recent)
    assert {pair: pairs_of(link) for pair, link in links.items()} == {
        (recent["id"], topic["id"]): [("latest_posts[].topic_id", "id")],
        (recent["id"], lock["id"]): [("latest_posts[].id", "id")],
        (recent["id"], member["id"]): [("latest_posts[].username", "username")],
    }


def test_a_word_that_is_no_short_form_names_nothing() -> None:
    other = named("getWeather", operation("GET /t/{id}", record("title")))
    topics = named("listTopics", operation("GET /topics", record(topics=many(record(id=NUMBER)))))
    assert not links_of(other, topics)


def test_a_program_at_the_end_of_a_path_is_no_action() -> None:
    shown = operation("GET /order.php", record("title"), needs={"order_id": TEXT})
    listed = operation("GET /orders.php", record(orders=many(record("id"))))
    assert pairs_of(links_of(listed, shown)[listed["id"], shown["id"]]) == [("orders[].id", "order_id")]


def test_paths_that_end_in_an_action_are_read_by_it() -> None:
    listed, shown, changed, made, note = (
        operation(f"POST /{path}", gives, needs=needs)
        for path, gives, needs in (
            ("documents.list", record(data=many(record("id", "title"))), None),
            ("documents.info", record(data=record("id", "title")), {"id": TEXT}),
            ("documents.update", record(data=record("id")), {"id": TEXT, "title": TEXT}),
            ("documents.create", record(data=record("id")), {"title": TEXT}),
            ("comments.create", record(data=record("id")), {"documentId": TEXT, "text": TEXT}),
        )
    )
    links = links_of(listed, shown, changed, made, note)
    for source in (listed, made):
        path = "data[].id" if source is listed else "data.id"
        assert pairs_of(links[source["id"], shown["id"]]) == [(path, "id")]
        assert pairs_of(links[source["id"], changed["id"]]) == [(path, "id")]
        assert pairs_of(links[source["id"], note["id"]]) == [(path, "documentId")]
    assert not any(target == made["id"] for _, target in links), "what is created takes no id"


def test_who_did_something_and_who_follows_are_users_of_every_filter() -> None:
    users = operation("GET /users", record(users=many(record("id", "name"))))
    tasks = operation("GET /tasks", record(tasks=many(record(id=NUMBER, created_by=record("id")))))
    search = operation(
        "GET /tasks/search", record(n=NUMBER), takes={"followers.any": TEXT, "assignee.not": TEXT}
    )
    links = links_of(users, tasks, search)
    # One user, of whom a search asks one thing.
    assert pairs_of(links[users["id"], search["id"]]) == [("users[].id", "['assignee.not']")]
    derivation = Derivation(library_of(users, tasks, search))
    link = derivation.between(tasks["id"], search["id"])
    assert link is not None and ("tasks[].created_by.id", "['assignee.not']") in pairs_of(link)


def test_a_search_may_be_narrowed_by_the_name_of_another_thing_but_not_beside_its_id() -> None:
    artists = operation("GET /artists", record(artists=many(record("name"))))
    concerts = operation("GET /concerts", record(concerts=many(record("date"))), takes={"artistName": TEXT})
    assert pairs_of(links_of(artists, concerts)[artists["id"], concerts["id"]]) == [
        ("artists[].name", "artistName")
    ]
    artists = operation("GET /artists", record(artists=many(record("id", "name"))))
    takes = {"artistName": TEXT, "artistId": TEXT}
    concerts = operation("GET /concerts", record(concerts=many(record("date"))), takes=takes)
    assert pairs_of(links_of(artists, concerts)[artists["id"], concerts["id"]]) == [
        ("artists[].id", "artistId")
    ]
    booked = operation("POST /concerts", record("id"), takes={"artistName": TEXT})
    assert not links_of(artists, booked), "what is written is not what was found"


def test_a_plain_list_of_tags_lists_tags() -> None:
    photo = operation("GET /photos", record(photos=many(record(tags=many(TEXT)))))
    tag = operation("GET /tags/{tag-name}", record("media_count"), needs={"tag-name": TEXT})
    assert pairs_of(links_of(photo, tag)[photo["id"], tag["id"]]) == [("photos[].tags[]", "tag-name")]


def test_what_a_tool_makes_besides_is_news_unless_it_was_asked_with_it() -> None:
    start = operation("POST /uploads/start", record("upload_key"), needs={"file_name": TEXT})
    finish = operation("POST /uploads/finish", record("ok"), needs={"upload_key": TEXT})
    again = operation("POST /uploads/again", record("upload_key"), needs={"upload_key": TEXT})
    assert score(start, finish) > 0.4
    assert score(again, finish) == 0


def test_an_id_that_is_written_in_one_word_with_its_thing() -> None:
    bounces = operation("GET /bounces", record(Bounces=many(record("ID", "MessageID"))))
    bounce = operation("GET /bounces/{bounceid}", record("email"), needs={"bounceid": TEXT})
    message = operation("GET /messages/outbound/{messageid}", record("text"), needs={"messageid": TEXT})
    members = operation("GET /teams", record(members=many(record("userid"))))
    user = operation("GET /users/{userid}", record("name"), needs={"userid": TEXT})
    links = links_of(bounces, bounce, message, members, user)
    assert {pair: pairs_of(link) for pair, link in links.items()} == {
        (bounces["id"], bounce["id"]): [("Bounces[].ID", "bounceid")],
        (bounces["id"], message["id"]): [("Bounces[].MessageID", "messageid")],
        (members["id"], user["id"]): [("members[].userid", "userid")],
    }


def test_what_is_beside_a_list_is_of_the_page_and_lists_within_items_are_other_things() -> None:
    city = record(id=NUMBER, name=TEXT)
    cities = operation("GET /cities", record(meta=record("name"), results=many(record(id=NUMBER))))
    by_name = operation("GET /weather", record("text"), needs={"cityName": TEXT})
    assert not links_of(cities, by_name)
    cities = operation("GET /cities", record(meta=record("name"), results=many(city)))
    assert pairs_of(links_of(cities, by_name)[cities["id"], by_name["id"]]) == [
        ("results[].name", "cityName")
    ]
    orders = operation("GET /orders", record(orders=many(record(code=TEXT, items=many(record("id"))))))
    order = operation("GET /orders/{id}", record("text"), needs={"id": TEXT})
    assert all(
        path != "orders[].items[].id"
        for link in links_of(orders, order).values()
        for path, _ in pairs_of(link)
    )


def test_a_key_in_a_path_is_that_of_what_is_before_it() -> None:
    posts = operation("GET /posts", record(posts=many(record("key", "text"))))
    post = operation("GET /posts/{key}", record("text"), needs={"key": TEXT})
    assert pairs_of(links_of(posts, post)[posts["id"], post["id"]]) == [("posts[].key", "key")]


def test_a_username_is_that_of_a_user_wherever_it_is_in_a_path() -> None:
    needs = {"username": TEXT, "slug": TEXT}
    reports = operation("GET /reports", record(results=many(record("name", "slug"))))
    report = operation("GET /reports/{username}/{slug}", record("text"), needs=needs)
    assert pairs_of(links_of(reports, report)[reports["id"], report["id"]]) == [("results[].slug", "slug")]


def test_one_thing_in_a_list_is_the_one_that_was_asked_for() -> None:
    session = operation("GET /sessions/{session_id}", many(record("id")), needs={"session_id": TEXT})
    notes = operation("GET /sessions/{session_id}/notes", record("text"), needs={"session_id": TEXT})
    assert score(session, notes) < 0.4


def test_a_part_of_a_path_is_read_at_its_prepositions() -> None:
    teams = operation("GET /Teams", many(record("TeamID", "City")))
    players = operation("GET /PlayersByTeam/{teamid}", many(record("PlayerID")), needs={"teamid": TEXT})
    games = operation(
        "GET /TeamGamesBySeason/{season}/{teamid}",
        many(record("Day")),
        needs={"season": TEXT, "teamid": TEXT},
    )
    news = operation("GET /NewsByPlayerID/{playerid}", many(record("Title")), needs={"playerid": TEXT})
    links = links_of(teams, players, games, news)
    assert pairs_of(links[teams["id"], games["id"]]) == [("[].TeamID", "teamid")]
    assert pairs_of(links[players["id"], news["id"]]) == [("[].PlayerID", "playerid")]


def test_only_the_collection_of_a_thing_tells_which_of_its_kind_it_is() -> None:
    current = operation("GET /CurrentSeason", record("season_key"))
    tables = [
        operation(f"GET /{name}/{{season_key}}", many(record("rank")), needs={"season_key": TEXT})
        for name in ("Standings", "Schedules", "Injuries")
    ]
    links = links_of(current, *tables)
    assert all(links[current["id"], table["id"]].score > 0.5 for table in tables)
    merge = operation("GET /projects/merges/{id}/notes", many(record("id")), needs={"id": TEXT})
    note = operation("GET /projects/issues/notes/{note_id}", needs={"note_id": TEXT})
    own = operation("GET /projects/issues/notes", many(record("id")))
    other = operation("GET /projects/merges/notes/{note_id}", needs={"note_id": TEXT})
    links = links_of(merge, own, note, other)
    assert links[own["id"], note["id"]].score > 2 * links[merge["id"], note["id"]].score


def test_a_parameter_of_a_path_with_an_empty_name_is_one_of_what_is_before_it() -> None:
    photos = operation("GET /photos", many(record("name")))
    photo = operation("GET /photos/{item}", needs={"item": TEXT})
    items = operation("GET /items", many(record("name")))
    assert pairs_of(links_of(photos, items, photo)[photos["id"], photo["id"]]) == [("[].name", "item")]
    assert not score(items, photo, photos)


def test_a_reference_counts_more_than_a_thing_within_another() -> None:
    ship = operation("GET /shipments/{shipment_id}", needs={"shipment_id": TEXT})
    by_name = operation("GET /labels", many(record("label_id", "shipment_id")))
    within = operation("GET /parcels", many(record("id", shipment=record("id", "text"))))
    ship_list = operation("GET /shipments", many(record("id")))
    links = links_of(by_name, within, ship, ship_list)
    first, second, last = (links[one["id"], ship["id"]].score for one in (ship_list, by_name, within))
    assert first > second > 1.1 * last > 0.6


@pytest.mark.parametrize("beside", ["id", "colour"])
def test_what_a_thing_with_an_id_has_is_not_written_into_another(beside: str) -> None:
    carriers = operation("GET /carriers", many(record(beside, "nickname")))
    connect = operation("POST /connections", needs={"nickname": TEXT})
    assert (score(carriers, connect) > 0.4) == (beside != "id")


def test_a_list_of_plain_values_has_the_ids_of_what_it_is_called() -> None:
    agreement = operation(
        "GET /agreements/{agreement_id}",
        record("agreement_id", accounts={"type": "array", "items": TEXT}),
        needs={"agreement_id": TEXT},
    )
    balances = operation("GET /accounts/{account_id}/balances", needs={"account_id": TEXT})
    link = links_of(agreement, balances)[agreement["id"], balances["id"]]
    assert pairs_of(link) == [("accounts[]", "account_id")] and link.score > 0.4


def test_a_read_of_one_thing_repeats_what_it_was_asked_with_even_if_that_may_be_left_out() -> None:
    price = operation("GET /brand", record("brand_name", "price"), takes={"brand_name": TEXT})
    dealers = operation("GET /dealers", many(record("id")), needs={"brand_name": TEXT})
    assert score(price, dealers) < 0.4
    cars = operation("GET /brands", many(record("brand_name", "price")), takes={"brand_name": TEXT})
    assert score(cars, dealers) > 0.4


def test_ids_that_a_path_lists_are_repeated_in_the_result() -> None:
    several = {"type": "array", "items": TEXT}
    users = operation("GET /users/{ids}", many(record("id", "name")), needs={"ids": several})
    message = operation("POST /users/{user_id}/messages", needs={"user_id": TEXT})
    assert score(users, message) < 0.4


def test_keys_of_a_collection_may_be_listed_in_the_schema() -> None:
    spells = operation("GET /spells/{index}", record("index", "name"), needs={"index": TEXT})
    school = {"type": "string", "enum": ["evocation", "illusion"]}
    schools = operation("GET /schools", many(record("index")))
    one = operation("GET /schools/{index}", record("index", "spells"), needs={"index": school})
    assert pairs_of(links_of(schools, one, spells)[schools["id"], one["id"]]) == [("[].index", "index")]


@pytest.mark.parametrize(("name", "listed"), [("type", "types"), ("version", "versions"), ("rule", "rules")])
def test_a_key_in_a_path_is_no_setting_whatever_its_name(name: str, listed: str) -> None:
    values = {"type": "string", "enum": ["a", "b"]} if name == "rule" else TEXT
    one = operation(f"GET /{listed}/{{{name}}}", needs={name: values})
    plain = operation(f"GET /{listed}", {"type": "array", "items": TEXT})
    assert pairs_of(links_of(plain, one)[plain["id"], one["id"]]) == [("[]", name)]
    objects = operation(f"GET /{listed}", record(**{listed: many(record(name, "size"))}))
    assert pairs_of(links_of(objects, one)[objects["id"], one["id"]]) == [(f"{listed}[].{name}", name)]


def test_a_verb_at_the_end_of_a_path_is_what_is_done() -> None:
    alarms = operation("GET /alarms", many(record("id")))
    delete = operation("POST /alarms/delete", needs={"ids": {"type": "array", "items": TEXT}})
    assert pairs_of(links_of(alarms, delete)[alarms["id"], delete["id"]]) == [("[].id", "ids")]


def test_a_collection_lists_what_the_parameter_after_its_path_names() -> None:
    listed = operation("GET /databases", {"type": "array", "items": TEXT})
    made = operation("POST /databases", record("name"), needs={"dimension": NUMBER})
    one = operation("GET /databases/{index_name}", needs={"index_name": TEXT})
    links = links_of(listed, made, one)
    assert pairs_of(links[listed["id"], one["id"]]) == [("[]", "index_name")]
    assert pairs_of(links[made["id"], one["id"]]) == [("name", "index_name")]


def test_a_token_of_a_thing_comes_from_elsewhere_and_values_to_write_do_not() -> None:
    cost = operation("GET /cost", record(estimates=many(record("ride", "cost_token"))))
    needs = {"latitude": {"type": "number"}, "longitude": {"type": "number"}, "note_text": TEXT}
    ride = operation("POST /rides", needs=needs, takes={"cost_token": TEXT})
    link = links_of(cost, ride)[cost["id"], ride["id"]]
    assert pairs_of(link) == [("estimates[].cost_token", "cost_token")] and link.score > 0.4


def test_the_owner_of_a_thing_is_a_user_where_only_a_path_names_users() -> None:
    maps = {**operation("GET /maps/{id}", record("id", "owner_id"), needs={"id": TEXT}), "id": "get_maps_id"}
    user = {**operation("GET /users/{id}", record("id"), needs={"id": TEXT}), "id": "get_users_id"}
    assert ("owner_id", "id") in pairs_of(links_of(maps, user)["get_maps_id", "get_users_id"])


def test_what_very_many_tools_give_in_passing_is_context() -> None:
    target = operation("GET /quotas", needs={"namespace": TEXT})

    def first_score(givers: int) -> float:
        tools = [
            operation(f"GET /{word}s", many(record("name", place=record("namespace"))))
            for word in (f"thing{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(givers))
        ]
        return score(tools[0], target, *tools[1:])

    assert first_score(120) < 0.6 * first_score(20)
