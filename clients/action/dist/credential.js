// src/runner/failure.ts
var Failure = class extends Error {
  name = "Failure";
  isPassing;
  retryAfter;
  constructor(message, { isPassing = false, retryAfter, cause } = {}) {
    super(message, { cause });
    this.isPassing = isPassing;
    this.retryAfter = retryAfter;
  }
};
var messageOf = (error) => error instanceof Error ? error.message : String(error);

// src/runner/log.ts
var MAX_CHARACTERS = 4e3;
var printable = (text) => text.slice(0, MAX_CHARACTERS).replaceAll("\r\n", "\n").replace(/[^\P{C}\n]/gu, "?");

// src/api/attempts.ts
import { setTimeout as sleep } from "node:timers/promises";
var MOST = 6;
var FEW = 3;
var MAX_WAIT_SECONDS = 30;
async function withAttempts(attempt, report, most = MOST) {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Failure) || !error.isPassing || count === most) throw error;
      const seconds = Math.min(error.retryAfter ?? 2 ** (count - 1), MAX_WAIT_SECONDS);
      report(`Attempt ${count} of ${most} failed: ${error.message}. The next one is in ${seconds} s.`);
      await sleep(seconds * 1e3);
    }
  }
}

// src/api/https.ts
import https from "node:https";
var TIMEOUT_MS = 35e3;
var MAX_BYTES = 4 * 1024 * 1024;
async function send({ url, method, headers, body, authorities }) {
  const target = new URL(url);
  const agent = new https.Agent({
    proxyEnv: process.env,
    // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
    rejectUnauthorized: true,
    ...authorities !== void 0 && { ca: authorities }
  });
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await new Promise((resolve, reject) => {
      const length = body === void 0 ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const sent = https.request(
        target,
        { method, agent, signal, headers: { "user-agent": "keyplane-action", ...length, ...headers } },
        (response) => {
          const chunks = [];
          let size = 0;
          response.on("data", (chunk) => {
            size += chunk.length;
            if (size > MAX_BYTES) sent.destroy(new Error("the answer is larger than 4 MiB"));
            else chunks.push(chunk);
          });
          response.on("error", reject);
          response.on("end", () => {
            const { statusCode = 0, headersDistinct } = response;
            const text = Buffer.concat(chunks).toString();
            resolve({ url: target.origin + target.pathname, code: statusCode, headers: headersDistinct, text });
          });
        }
      );
      sent.on("error", (error) => reject(signal.aborted ? new Error("no answer within 35 seconds") : error));
      sent.end(body);
    });
  } catch (error) {
    throw unreachable(target, error);
  } finally {
    agent.destroy();
  }
}
var UNTRUSTED = /* @__PURE__ */ new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT"
]);
function unreachable({ host }, error) {
  const { code = "" } = error;
  if (UNTRUSTED.has(code)) {
    return new Failure(
      `the certificate of ${host} is not signed by an authority that this job trusts (${code}). If the server has an authority of its own, give its certificate as certificate-authority`,
      { cause: error }
    );
  }
  if (/CERT|ERR_SSL|EPROTO/.test(code))
    return new Failure(`no TLS connection to ${host}: ${messageOf(error)}`, { cause: error });
  return new Failure(`${host} cannot be reached: ${messageOf(error) || code}`, { isPassing: true, cause: error });
}

// src/api/refusal.ts
function objectOf({ text }) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : void 0;
  } catch {
    return void 0;
  }
}
function refusal(what, answer) {
  return new Failure(`${what} failed: ${reasonOf(answer)}`, passing(answer));
}
var mayPass = (code) => code === 408 || code === 429 || code >= 500;
function passing({ code, headers }) {
  const retryAfter = Number(headers["retry-after"]?.[0]);
  return { isPassing: mayPass(code), ...Number.isSafeInteger(retryAfter) && retryAfter >= 0 && { retryAfter } };
}
function reasonOf(answer) {
  const { code, url, headers } = answer;
  const body = objectOf(answer);
  if (body?.kind === "Status") return statusText(body, code);
  if (typeof body?.error === "string") return `${code} ${body.error_description ?? body.error}`;
  if (code >= 300 && code < 400)
    return `${url} redirects to ${headers.location?.[0] ?? "another address"}. Give that address as url, if it is the right one`;
  if (code === 403 && (body?.message === "Forbidden" || body?.message === "Missing Authentication Token"))
    return wrongUrl(answer);
  return `${url} answered ${code}, but not as this API does. url must be the URL of the API, which ends in /kubernetes/management`;
}
var wrongUrl = ({ url }) => `there is no ${url}: the stage or the path in url is wrong. It is the whole URL of the API, with its stage if there is one: https://HOST/STAGE/kubernetes/management`;
function statusText({ message, details }, code) {
  const text = typeof message === "string" && message !== "" ? message : "no reason given";
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  const more = causes.flatMap(
    ({ message: cause }) => typeof cause === "string" && cause !== "" && !text.includes(cause) ? [cause] : []
  );
  const hint = code === 401 ? ["The access key is not valid any more, or belongs to another deployment"] : [];
  return [`${code} ${text}`, ...more, ...hint].join("\n");
}

// src/api/exchange.ts
var sendForm = ({ url, certificateAuthority }, path, form) => send({
  url: `${url}/oauth2/${path}`,
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
  body: new URLSearchParams(form).toString(),
  ...certificateAuthority && { authorities: certificateAuthority }
});
async function exchange(api, { credential, scope, idToken }, log) {
  const asked = Date.now();
  const answer = await sendForm(api, "token", {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    subject_token: idToken,
    client_id: credential,
    ...scope && { scope }
  });
  const { access_token: key, expires_in: seconds } = objectOf(answer) ?? {};
  if (typeof key === "string") log.mask(key);
  if (answer.code !== 200) throw refused("the exchange of the ID token for an access key", answer);
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key) || typeof seconds !== "number" || !(seconds > 0))
    throw new Failure(`${answer.url} answered without an access key: is url the URL of the API?`);
  return { key, expires: asked + seconds * 1e3 };
}
function refused(what, answer) {
  const isElsewhere = !mayPass(answer.code) && objectOf(answer)?.kind === "Status";
  return isElsewhere ? new Failure(`${what} failed: ${wrongUrl(answer)}`) : refusal(what, answer);
}

// src/api/idtoken.ts
import { getCACertificates } from "node:tls";
var JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
var MISSING = `this job has no ID token. Add these lines to the workflow or to the job, and to the job that calls it if this is a reusable workflow:
permissions:
  id-token: write
  contents: read
Workflows that a pull request of a fork or Dependabot starts get no ID token, whatever their permissions say.`;
async function getIdToken({ env, audience, certificateAuthority }, log) {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken2 } = env;
  const url = URL.parse(requestUrl ?? "");
  if (!url || !requestToken2) throw new Failure(MISSING);
  if (url.protocol !== "https:") throw new Failure("ACTIONS_ID_TOKEN_REQUEST_URL is not an https URL");
  url.searchParams.set("audience", audience);
  const answer = await send({
    url: url.href,
    method: "GET",
    headers: { authorization: `Bearer ${requestToken2}`, accept: "application/json" },
    ...certificateAuthority && { authorities: [...getCACertificates("default"), certificateAuthority] }
  });
  const value = objectOf(answer)?.value;
  if (typeof value === "string") log.mask(value);
  const { code } = answer;
  if (code !== 200)
    throw new Failure(`GitHub answered ${code} to the request for an ID token of this job`, passing(answer));
  if (typeof value !== "string" || !JWT.test(value)) throw new Failure("GitHub answered without an ID token");
  return value;
}

// src/api/target.ts
function describe(target) {
  if (target.type === "virtualCluster") return `virtual cluster ${target.project}/${target.name}`;
  return target.type === "cluster" ? `cluster ${target.name}` : "the management API";
}

// src/api/token.ts
var GROUP = "management.platform/v1";
var EXEC_CREDENTIAL = "application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1";
async function requestToken(api, key, { target, seconds }, log) {
  const answer = target.type === "cluster" ? await post(api, key, {
    path: "directclusterendpointtokens",
    kind: "DirectClusterEndpointToken",
    spec: { ttl: seconds, scope: { clusters: [{ cluster: target.name }] } },
    what: `the request for a token of ${describe(target)}`,
    log
  }) : await post(api, key, {
    ...kubeConfigOf(api, target),
    spec: { certificateTTL: seconds },
    accept: EXEC_CREDENTIAL,
    log
  });
  const { token, expirationTimestamp } = answer;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw new Failure(`the API answered without a token for ${describe(target)}`);
  return { token, ...expiry(expirationTimestamp) };
}
var kubeConfigOf = ({ projectNamespacePrefix }, target) => ({
  path: `namespaces/${projectNamespacePrefix}${target.project}/virtualclusterinstances/${target.name}/kubeconfig`,
  kind: "VirtualClusterInstanceKubeConfig",
  what: `the request for a kube config of ${describe(target)}`
});
async function post({ url, certificateAuthority }, key, { path, kind, spec, accept = "application/json", what, log }) {
  const answer = await send({
    url: `${url}/apis/${GROUP}/${path}`,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, accept, "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: GROUP, kind, spec }),
    ...certificateAuthority && { authorities: certificateAuthority }
  });
  const { status } = objectOf(answer) ?? {};
  if (answer.code !== 201) throw refusal(what, answer);
  for (const header of answer.headers.warning ?? []) {
    for (const [, text = ""] of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g))
      log.warning(text.replace(/\\(.)/g, "$1"));
  }
  return typeof status === "object" && status !== null ? status : {};
}
function expiry(timestamp) {
  const expires = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(expires) ? {} : { expires };
}

// src/session/lock.ts
import { randomUUID } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep2 } from "node:timers/promises";
var STALE_MS = 6e5;
var WAIT_MS = 9e4;
var STALE_GUARD_MS = 3e4;
async function withLock(file, work) {
  const mine = newText();
  const deadline = performance.now() + WAIT_MS;
  while (!await take(file, mine)) {
    if (performance.now() > deadline) throw new Failure("another process has been renewing the credential for too long");
    const holder = await holderOf(file);
    if (holder && isAbandoned(holder, STALE_MS)) await remove(file, holder.text);
    await sleep2(25 + Math.random() * 50);
  }
  try {
    return await work();
  } finally {
    while (!await remove(file, mine)) await sleep2(25);
  }
}
var newText = () => `${process.pid} ${randomUUID()}`;
async function remove(file, text) {
  if ((await holderOf(file))?.text !== text) return true;
  const guards = await takeGuard(file);
  if (guards === void 0) return false;
  if ((await holderOf(file))?.text === text) await rm(file, { force: true });
  for (const guard of guards) await rm(guard, { force: true });
  return true;
}
async function takeGuard(file) {
  const dead = [];
  for (; ; ) {
    const guard = `${file}.guard${dead.length}`;
    if (await take(guard, newText())) {
      for (const one of dead) {
        if ((await holderOf(one.file))?.text === one.text) continue;
        await rm(guard, { force: true });
        return void 0;
      }
      return [...dead.map((one) => one.file), guard];
    }
    const holder = await holderOf(guard);
    if (holder === void 0 || !isAbandoned(holder, STALE_GUARD_MS)) return void 0;
    dead.push({ file: guard, text: holder.text });
  }
}
async function take(file, text) {
  try {
    await writeFile(file, text, { flag: "wx", mode: 384 });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}
async function holderOf(file) {
  try {
    const [text, { mtimeMs }] = [await readFile(file, "utf8"), await stat(file)];
    return { text, age: Date.now() - mtimeMs };
  } catch {
    return void 0;
  }
}
function isAbandoned({ text, age }, stale) {
  if (age > stale) return true;
  const holder = Number.parseInt(text, 10);
  if (!(holder > 0)) return false;
  try {
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

// src/session/session.ts
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

// src/session/ownfiles.ts
import {
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync
} from "node:fs";
function replaceFile(path, text) {
  const next = `${path}.new`;
  writeFileSync(next, text, { mode: 384 });
  renameSync(next, path);
}

// src/session/session.ts
var files = {
  session: "session.json",
  held: "credential.json",
  /** The key alone, for curl and other programs. */
  key: "key",
  /** Every key of an exchange, one a line, for the post step. */
  exchanged: "exchanged",
  kubeConfig: "kubeconfig",
  lock: "lock"
};
var fileNames = Object.values(files).flatMap((name) => [name, `${name}.new`]);
var keyFile = (folder) => join(folder, files.key);
var lockFile = (folder) => join(folder, files.lock);
var readSession = (folder) => JSON.parse(readFileSync(join(folder, files.session), "utf8"));
var recordExchanged = (folder, { key }) => appendFileSync(join(folder, files.exchanged), `${key}
`, { mode: 384 });
function writeHeld(folder, held) {
  replaceFile(keyFile(folder), held.key);
  replaceFile(join(folder, files.held), JSON.stringify(held));
}
function readHeld(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, files.held), "utf8"));
  } catch (error) {
    throw new Error(`the folder of the step cannot be read: ${messageOf(error)}`);
  }
}

// src/session/renewal.ts
var RENEWED_AT = 0.8;
var RENEWED_SECONDS = 900;
var LEAST_SECONDS = 600;
var REQUEST_SECONDS = 40;
var exchangeAnew = (folder, { credential = "", scope, audience, ...api }, { env, log }, most) => withAttempts(
  async () => {
    const { certificateAuthority } = api;
    const idToken = await getIdToken({ env, audience, ...certificateAuthority && { certificateAuthority } }, log);
    const made = await exchange(api, { credential, idToken, ...scope && { scope } }, log);
    recordExchanged(folder, made);
    return made;
  },
  log.info,
  most
);
async function currentToken(folder, session, surroundings) {
  const known = tokenOf(readHeld(folder));
  if (known && isFresh(known.life)) return known;
  return withLock(lockFile(folder), async () => {
    const held = readHeld(folder);
    const last = tokenOf(held);
    if (last && isFresh(last.life)) return last;
    const { key, keyLife } = await renewedKey(folder, session, held, surroundings);
    const { target, ttl } = session;
    if (target.type === "management") return { token: key, ...keyLife && { expires: keyLife.until } };
    const { log } = surroundings;
    return unlessUnanswered(last, log, async () => {
      const seconds = () => ttl ?? secondsWithin(keyLife, RENEWED_SECONDS);
      const asked = () => requestToken(session, key, { target, seconds: seconds() }, log);
      const made = await withAttempts(asked, log.info, isUsable(last) ? FEW : void 0);
      const tokenLife = made.expires === void 0 ? void 0 : { from: Date.now(), until: made.expires };
      writeHeld(folder, { key, ...keyLife && { keyLife }, token: made.token, ...tokenLife && { tokenLife } });
      return made;
    });
  });
}
async function renewedKey(folder, session, held, surroundings) {
  const { keyLife } = held;
  if (!keyLife || isFresh(keyLife)) return held;
  return unlessUnanswered({ ...held, life: keyLife }, surroundings.log, async () => {
    const from = Date.now();
    const { key, expires } = await exchangeAnew(
      folder,
      session,
      surroundings,
      isUsable({ life: keyLife }) ? FEW : void 0
    );
    const renewed = { ...held, key, keyLife: { from, until: expires } };
    writeHeld(folder, renewed);
    return renewed;
  });
}
async function unlessUnanswered(last, log, work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !error.isPassing || !last || !isUsable(last)) throw error;
    log.warning(`The last credential is used until it expires: ${error.message}`);
    return last;
  }
}
function secondsWithin(keyLife, usual) {
  const left = keyLife ? Math.floor((keyLife.until - Date.now()) / 1e3) - REQUEST_SECONDS : usual;
  return Math.max(LEAST_SECONDS, Math.min(usual, left));
}
function tokenOf({ token, tokenLife }) {
  return token !== void 0 && tokenLife ? { token, expires: tokenLife.until, life: tokenLife } : void 0;
}
var isUsable = (last) => last !== void 0 && last.life.until > Date.now();
var isFresh = ({ from, until }) => Date.now() < from + (until - from) * RENEWED_AT;

// src/plugin.ts
async function runPlugin(folder, env, { out, err }) {
  const say = (message) => err(`keyplane: ${printable(message)}
`);
  const log = { mask: () => {
  }, error: say, warning: say, info: say };
  try {
    const { token, expires } = await currentToken(folder, readSession(folder), { env, log });
    const status = { ...expires !== void 0 && { expirationTimestamp: new Date(expires).toISOString() }, token };
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
    out(`${JSON.stringify(credential)}
`);
    return 0;
  } catch (error) {
    say(messageOf(error));
    return 1;
  }
}

// src/credential.ts
process.exitCode = await runPlugin(process.argv[2] ?? "", process.env, {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text)
});
