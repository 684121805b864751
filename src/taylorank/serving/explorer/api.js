// Requests to the server: the key, the errors, and answers that came too late.

export class Problem extends Error {
  constructor(error, remedy, status) {
    super(remedy ? `${error}. ${capital(remedy)}.` : `${error}.`);
    this.status = status;
  }
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

let askForKey = async () => null;

/** `ask(isWrong)` returns a key, once the server has refused a request without one. */
export function onKeyNeeded(ask) {
  askForKey = ask;
}

function storedKey() {
  try { return sessionStorage.getItem("api-key"); } catch { return null; }
}

function keepKey(key) {
  try { sessionStorage.setItem("api-key", key); } catch { /* then it is asked for again */ }
}

async function send(path, options, key) {
  const headers = { accept: "application/json" };
  if (options.body !== undefined) headers["content-type"] = "application/json";
  if (key) headers.authorization = `Bearer ${key}`;
  try {
    return await fetch(path, {
      method: options.body === undefined ? "GET" : "POST",
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: "no-cache",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer", "see whether it is still running", 0);
  }
}

let asking = null;

function newKey(isWrong) {
  asking ??= askForKey(isWrong).then((key) => {
    if (key) keepKey(key);
    return key;
  }).finally(() => { asking = null; });
  return asking;
}

/** Return the parsed answer; throw a Problem with the server's own words. */
export async function request(path, options = {}) {
  let key = storedKey();
  let response = await send(path, options, key);
  while (response.status === 401) {
    response.body?.cancel(); // unread it would keep its connection
    const tried = key;
    key = storedKey() !== tried ? storedKey() : await newKey(Boolean(tried));
    if (!key) throw new Problem("This server needs a key", "reload the page to give one", 401);
    response = await send(path, options, key);
  }
  const text = await response.text();
  let answer = null;
  try { answer = JSON.parse(text); } catch { /* not ours */ }
  if (response.ok && answer !== null) return answer;
  const error = answer?.error ? capital(answer.error) : `The server answered ${response.status}`;
  throw new Problem(error, answer?.remedy ?? "", response.status);
}

/** Return a function of which only the latest call gets an answer; earlier ones are given up. */
export function latest(work) {
  let current = null;
  return async (...args) => {
    current?.abort();
    const mine = current = new AbortController();
    try {
      const answer = await work(mine.signal, ...args);
      return mine === current ? answer : undefined;
    } catch (error) {
      if (error.name === "AbortError" || mine !== current) return undefined;
      throw error;
    }
  };
}

export function debounced(milliseconds, work) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), milliseconds);
  };
}
