"""The language of a library, and what a request is about."""

from __future__ import annotations

from random import Random

import pytest

from toolassay.offline.own_tools.purpose import purpose_of
from toolassay.offline.own_tools.setting import is_english, setting_of
from toolassay.tools import Tool, ToolLibrary


def library(*descriptions: str) -> ToolLibrary:
    return ToolLibrary([Tool(f"t{number}", text) for number, text in enumerate(descriptions)])


@pytest.mark.parametrize(
    "descriptions",
    [
        ("Bucht einen Termin für eine Kundin", "Sendet eine Bestätigung per Brief"),
        ("Liste les factures d'un client", "Crée une nouvelle commande dans le système"),
        ("Busca productos en el catálogo", "Devuelve el listado de pedidos de un cliente"),
        ("Cria um novo pedido", "Lista os clientes da loja e os endereços"),
        ("Crea un nuovo ordine", "Elenca tutti i clienti del negozio"),
        ("Maak een nieuwe bestelling aan", "Toon alle klanten van de winkel"),
        ("Tworzy nowe zamówienie dla klienta", "Zwraca listę wszystkich klientów"),
        ("Yeni bir sipariş oluşturur", "Tüm müşterileri listeler ve döndürür"),
        ("创建新订单并返回编号", "列出所有客户的名称和地址"),
        ("Создаёт новый заказ для клиента", "Возвращает список всех клиентов"),
        ("ينشئ طلبا جديدا للعميل", "يعرض قائمة بجميع العملاء"),
    ],
)
def test_a_library_in_another_language_is_recognised(descriptions: tuple[str, ...]) -> None:
    assert not is_english(library(*descriptions))


@pytest.mark.parametrize(
    "descriptions",
    [
        ("Get list", "Create user"),
        ("getBoardById()", "updateCardByIdCard()"),
        ("", ""),
        ("zap", "frob the knob"),
        ("Books a slot for the Grünwald depot", "Lists all depots and their opening hours"),
    ],
)
def test_terse_and_odd_english_is_english(descriptions: tuple[str, ...]) -> None:
    assert is_english(library(*descriptions))


def test_a_setting_names_what_the_library_and_the_request_have_in_common() -> None:
    tools = library("Create a ticket", "Close a ticket", "Get the weather")
    purposes = [purpose_of(tools["t0"])]
    assert "tickets" in setting_of(tools, purposes, Random(1))
    assert setting_of(tools, [purpose_of(tools["t2"])], Random(1)) == ""
