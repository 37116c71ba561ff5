// Requests to the server. A refusal becomes an error with the server's message and its whole answer.
"use strict";

class Refused extends Error {
  constructor(message, answer = {}) {
    super(message);
    this.answer = answer;
  }
}

const ask = async (path, settings = {}) => {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...settings });
  } catch {
    throw new Refused("the server does not answer: start it again and open the address it prints");
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Refused(`the server answered ${response.status} and nothing readable`);
  }
  if (!response.ok) throw new Refused(answer.error || `the server answered ${response.status}`, answer);
  return answer;
};
const post = (path, body) => ask(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});
const query = (values) => new URLSearchParams(values).toString();

export const start = () => ask("/api/start");
export const overview = (who) => ask(`/api/overview?${query(who)}`);
export const sample = (number, who) => ask(`/api/samples/${number}?${query(who)}`);
export const search = (text) => ask(`/api/search?${query({ text })}`);
export const summary = () => ask("/api/summary");
export const check = (number, parts) => post("/api/check", { number, parts });
export const decide = (who, wanted) => post("/api/decide", { ...who, ...wanted });
export const undo = (who) => post("/api/undo", who);
