// src/runner/log.ts
var MAX_CHARACTERS = 4e3;
var runnerLog = (write) => ({
  mask(secret) {
    for (const text of /* @__PURE__ */ new Set([secret, ...secret.split(/[\r\n]+/)])) {
      if (text.trim() !== "") write(`::add-mask::${commandData(text)}
`);
    }
  },
  error: (message) => write(`::error title=keyplane::${commandData(printable(message))}
`),
  warning: (message) => write(`::warning title=keyplane::${commandData(printable(message))}
`),
  info: (message) => write(`${printable(message).replaceAll("\n", " ").replaceAll("##[", "## [")}
`)
});
var commandData = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
var printable = (text) => text.slice(0, MAX_CHARACTERS).replaceAll("\r\n", "\n").replace(/[^\P{C}\n]/gu, "?");

// src/step.ts
import { join as join3, resolve } from "node:path";

// src/api/attempts.ts
import { setTimeout as sleep } from "node:timers/promises";

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

// src/api/attempts.ts
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

// src/api/target.ts
function describe(target) {
  if (target.type === "virtualCluster") return `virtual cluster ${target.project}/${target.name}`;
  return target.type === "cluster" ? `cluster ${target.name}` : "the management API";
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
    return await new Promise((resolve2, reject) => {
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
            resolve2({ url: target.origin + target.pathname, code: statusCode, headers: headersDistinct, text });
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

// src/api/token.ts
var USUAL_PREFIX = "p-";
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
async function requestKubeConfig(api, key, { target, user }, log) {
  const spec = "seconds" in user ? { certificateTTL: user.seconds } : { exec: user };
  const { kubeConfig, expirationTimestamp } = await post(api, key, { ...kubeConfigOf(api, target), spec, log });
  if (typeof kubeConfig !== "string" || kubeConfig === "")
    throw new Failure(`the API answered without a kube config of ${describe(target)}`);
  for (const [, token = ""] of kubeConfig.matchAll(/^ *token: *["']?([^\s"']+)/gm)) log.mask(token);
  return { text: kubeConfig, ...expiry(expirationTimestamp) };
}
async function readSelf(api, key, log) {
  const what = "the check of the access key";
  const { expirationTimestamp, projectNamespacePrefix } = await post(api, key, {
    path: "selves",
    kind: "Self",
    spec: {},
    what,
    log
  });
  const prefix = typeof projectNamespacePrefix === "string" ? projectNamespacePrefix : USUAL_PREFIX;
  return { projectNamespacePrefix: prefix, ...expiry(expirationTimestamp) };
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
function expiry(timestamp2) {
  const expires = typeof timestamp2 === "string" ? Date.parse(timestamp2) : Number.NaN;
  return Number.isNaN(expires) ? {} : { expires };
}

// src/authorities.ts
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
var CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
function readAuthorities(input, value) {
  const text = value.includes("-----BEGIN") ? value : readText(input, value);
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Failure(`${input} contains no PEM block of type CERTIFICATE`);
  for (const certificate of certificates) demandCertificate(input, certificate);
  return `${certificates.join("\n")}
`;
}
function readText(input, path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure(`${input} is neither PEM nor a file that can be read: ${messageOf(error)}`);
  }
}
function demandCertificate(input, certificate) {
  try {
    new X509Certificate(certificate);
  } catch (error) {
    throw new Failure(`${input} contains an invalid certificate: ${messageOf(error)}`);
  }
}

// src/inputs.ts
var readInput = (env, name) => (env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] ?? "").trim();
function readInputs(env) {
  const read = (name) => readInput(env, name);
  const url = readUrl("url", read("url"));
  const ttl = read("ttl");
  const path = read("path");
  const authority = read("certificate-authority");
  if (new RegExp("\\p{Cc}", "u").test(path)) throw new Failure("path contains control characters");
  return {
    url,
    audience: read("audience") || url,
    ...authority && { certificateAuthority: readAuthorities("certificate-authority", authority) },
    source: readSource(read),
    target: readTarget(read, authority),
    ...ttl && { ttl: readSeconds(ttl) },
    ...path && { path },
    renew: readBoolean("renew", read("renew")),
    outputKey: readBoolean("output-key", read("output-key"))
  };
}
function readUrl(input, value) {
  if (value === "") throw new Failure(`${input} is missing`);
  const url = URL.parse(value);
  if (url?.protocol !== "https:") throw new Failure(`${input} must be an https URL`);
  if (url.username || url.password || url.search || url.hash)
    throw new Failure(`${input} must have no user, query or fragment`);
  return url.href.replace(/\/+$/, "");
}
var CLIENT_ID = /^[a-z0-9][-a-z0-9.]*@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
var KEY = /^[\x21-\x7e]+$/;
function readSource(read) {
  const [credential, key, scope] = [read("credential"), read("key"), read("scope")];
  if (credential && key) throw new Failure("give either credential or key, not both");
  if (key) {
    if (!KEY.test(key)) throw new Failure("key is not an access key: it contains spaces or other characters");
    if (scope) throw new Failure("scope narrows the key of an exchange: it needs credential, not key");
    return { key };
  }
  if (!credential) {
    throw new Failure(
      "give credential, the NAME@UID of a FederatedIdentityCredential, or key. An empty key is a secret that this job does not get, as in workflows that a pull request of a fork starts"
    );
  }
  if (!CLIENT_ID.test(credential)) {
    throw new Failure(
      "credential must be NAME@UID of a FederatedIdentityCredential: kubectl get federatedidentitycredentials -o wide shows it as CLIENT ID"
    );
  }
  return { credential, ...scope && { scope } };
}
var NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
function readTarget(read, authority) {
  const [virtualCluster, cluster, server] = [read("virtual-cluster"), read("cluster"), read("server")];
  const serverAuthority = read("server-certificate-authority");
  if (virtualCluster && cluster) throw new Failure("give either virtual-cluster or cluster, not both");
  if (!cluster && (server || serverAuthority))
    throw new Failure("server and server-certificate-authority belong to cluster, which is missing");
  if (virtualCluster) {
    const [project = "", name = "", ...rest] = virtualCluster.split("/");
    if (!NAME.test(project) || !NAME.test(name) || rest.length > 0)
      throw new Failure("virtual-cluster must be PROJECT/NAME, such as shop/staging");
    return { type: "virtualCluster", project, name };
  }
  if (!cluster) return { type: "management" };
  if (!NAME.test(cluster)) throw new Failure("cluster must be the name of one connected cluster, such as west");
  if (!server) throw new Failure("cluster needs server, the URL of its kube-apiserver");
  const given = serverAuthority || authority;
  return {
    type: "cluster",
    name: cluster,
    server: readUrl("server", server),
    ...given && {
      certificateAuthority: readAuthorities(
        serverAuthority ? "server-certificate-authority" : "certificate-authority",
        given
      )
    }
  };
}
var SECONDS = { "": 1, s: 1, m: 60, h: 3600, d: 86400, w: 604800 };
function readSeconds(text) {
  const [, count, unit = ""] = /^([1-9]\d{0,8})([smhdw]?)$/.exec(text) ?? [];
  if (count === void 0) throw new Failure("ttl must be a duration such as 90s, 30m, 12h or 7d");
  return Number(count) * (SECONDS[unit] ?? 1);
}
function readBoolean(input, text) {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)?$/.test(text)) return false;
  throw new Failure(`${input} must be true or false`);
}

// src/kubeconfig.ts
function kubeConfigText({ name, server, certificateAuthority, user }) {
  const authority = certificateAuthority && {
    "certificate-authority-data": Buffer.from(certificateAuthority).toString("base64")
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...authority } }],
    users: [{ name, user: "token" in user ? user : { exec: execOf(user) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name
  };
  return `${JSON.stringify(config, void 0, 2)}
`;
}
var execOf = ({ command, args }) => ({
  apiVersion: "client.authentication.k8s.io/v1",
  interactiveMode: "Never",
  command,
  args
});

// src/runner/commandfiles.ts
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
function commandFiles(env) {
  const writer = (variable) => {
    const path = env[variable];
    if (!path) throw new Failure(`${variable} is not set: this program runs as a step of GitHub Actions`);
    return (name, value) => appendFileSync(path, entry(name, value));
  };
  return {
    setVariable: writer("GITHUB_ENV"),
    setOutput: writer("GITHUB_OUTPUT"),
    saveState: writer("GITHUB_STATE")
  };
}
function entry(name, value) {
  const delimiter = `keyplane-${randomUUID()}`;
  return `${name}<<${delimiter}
${value}
${delimiter}
`;
}

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
import { dirname, join } from "node:path";
var identityOf = (found) => found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
var identityAt = (path) => identityOf(lstatSync(path, { bigint: true, throwIfNoEntry: false }));
function makeFolder(parent) {
  const path = mkdtempSync(join(parent, "keyplane-"));
  return { path, identity: identityAt(path) ?? "" };
}
function makeFile(path) {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 448 });
    const file = openSync(path, "wx", 384);
    fchmodSync(file, 384);
    return {
      path,
      identity: identityOf(fstatSync(file, { bigint: true })) ?? "",
      // Writes to the file that was made, whatever has taken its place.
      write: (text) => writeFileSync(file, text)
    };
  } catch (error) {
    if (error.code === "EEXIST")
      throw new Failure(`${path} exists. This step overwrites no file: give another path, or remove the file first`);
    throw new Failure(`${path} cannot be written: ${messageOf(error)}`);
  }
}
function replaceFile(path, text) {
  const next = `${path}.new`;
  writeFileSync(next, text, { mode: 384 });
  renameSync(next, path);
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

// src/session/lock.ts
import { randomUUID as randomUUID2 } from "node:crypto";
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
var newText = () => `${process.pid} ${randomUUID2()}`;
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
import { appendFileSync as appendFileSync2, readFileSync as readFileSync2 } from "node:fs";
import { join as join2 } from "node:path";
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
var keyFile = (folder) => join2(folder, files.key);
var kubeConfigFile = (folder) => join2(folder, files.kubeConfig);
var lockFile = (folder) => join2(folder, files.lock);
var writeSession = (folder, session) => replaceFile(join2(folder, files.session), JSON.stringify(session));
var recordExchanged = (folder, { key }) => appendFileSync2(join2(folder, files.exchanged), `${key}
`, { mode: 384 });
function writeHeld(folder, held) {
  replaceFile(keyFile(folder), held.key);
  replaceFile(join2(folder, files.held), JSON.stringify(held));
}
function readHeld(folder) {
  try {
    return JSON.parse(readFileSync2(join2(folder, files.held), "utf8"));
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
var isFresh = ({ from, until: until2 }) => Date.now() < from + (until2 - from) * RENEWED_AT;

// src/step.ts
var DEFAULT_SECONDS = 3600;
async function runStep(env, log) {
  try {
    await takeStep(env, log);
    return 0;
  } catch (error) {
    log.error(messageOf(error));
    return 1;
  }
}
async function takeStep(env, log) {
  log.mask(readInput(env, "key"));
  const inputs = readInputs(env);
  const files2 = commandFiles(env);
  if (!env.RUNNER_TEMP) throw new Failure("RUNNER_TEMP is not set: this program runs as a step of GitHub Actions");
  const folder = makeFolder(env.RUNNER_TEMP);
  saveOwn(files2, "folder", folder);
  const kubeConfig = makeFile(inputs.path === void 0 ? kubeConfigFile(folder.path) : resolve(inputs.path));
  if (inputs.path !== void 0) saveOwn(files2, "kubeconfig", kubeConfig);
  const asked = sessionOf(inputs);
  writeSession(folder.path, asked);
  const held = await getKey(folder.path, inputs, asked, { env, log });
  const session = await withPrefix(asked, held.key, log);
  writeSession(folder.path, session);
  const { text, expires } = await makeKubeConfig(folder.path, inputs, session, held, { env, log });
  kubeConfig.write(text);
  files2.setVariable("KUBECONFIG", kubeConfig.path);
  files2.setOutput("kubeconfig", kubeConfig.path);
  files2.setOutput("key-file", keyFile(folder.path));
  if (expires !== void 0 && !inputs.renew) files2.setOutput("expires", timestamp(expires));
  if (inputs.outputKey) files2.setOutput("key", held.key);
  const end = inputs.renew ? "is renewed while the job runs" : `is valid ${until(expires)}`;
  log.info(`The kube config of ${describe(session.target)} ${end}.`);
}
function saveOwn(files2, name, { path, identity }) {
  files2.saveState(name, path);
  files2.saveState(`${name}-identity`, identity);
}
function sessionOf({ url, audience, certificateAuthority, source, target, ttl }) {
  const exchanged = "credential" in source ? source : {};
  return {
    url,
    audience,
    ...certificateAuthority && { certificateAuthority },
    ...exchanged,
    target,
    ...ttl && { ttl }
  };
}
async function getKey(folder, { source }, session, surroundings) {
  const from = Date.now();
  if ("key" in source) {
    writeHeld(folder, source);
    return source;
  }
  const { key, expires } = await exchangeAnew(folder, session, surroundings);
  const held = { key, keyLife: { from, until: expires } };
  writeHeld(folder, held);
  surroundings.log.info(`The access key of ${source.credential} is valid ${until(expires)}.`);
  return held;
}
async function withPrefix(session, key, { info }) {
  if (session.target.type !== "virtualCluster") return session;
  const { projectNamespacePrefix } = await withAttempts(() => readSelf(session, key, { warning: () => {
  } }), info);
  return { ...session, projectNamespacePrefix };
}
async function makeKubeConfig(folder, { renew }, session, { key, keyLife }, { env, log }) {
  const { target, ttl } = session;
  const seconds = () => ttl ?? secondsWithin(keyLife, DEFAULT_SECONDS);
  if (target.type === "management") {
    const { expires } = keyLife ? { expires: keyLife.until } : await withAttempts(() => readSelf(session, key, log), log.info);
    const user2 = renew ? plugin(folder) : { token: key };
    return {
      text: kubeConfigText({ name: "keyplane", server: session.url, ...authorityOf(session), user: user2 }),
      ...expires !== void 0 && { expires }
    };
  }
  if (target.type === "virtualCluster") {
    const user2 = () => renew ? plugin(folder) : { seconds: seconds() };
    const made2 = await withAttempts(() => requestKubeConfig(session, key, { target, user: user2() }, log), log.info);
    if (!renew) return made2;
    const { token, expires } = await currentToken(folder, session, { env, log });
    log.mask(token);
    return { ...made2, ...expires !== void 0 && { expires } };
  }
  const made = renew ? await currentToken(folder, session, { env, log }) : await withAttempts(() => requestToken(session, key, { target, seconds: seconds() }, log), log.info);
  log.mask(made.token);
  const user = renew ? plugin(folder) : { token: made.token };
  const { name, server } = target;
  const text = kubeConfigText({ name, server, ...authorityOf(target), user });
  return { text, ...made.expires !== void 0 && { expires: made.expires } };
}
var authorityOf = ({ certificateAuthority }) => certificateAuthority === void 0 ? {} : { certificateAuthority };
var plugin = (folder) => ({
  command: process.execPath,
  args: [join3(import.meta.dirname, "credential.js"), folder]
});
var timestamp = (milliseconds) => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
var until = (expires) => expires === void 0 ? "until it is revoked" : `until ${timestamp(expires)}`;

// src/main.ts
process.exitCode = await runStep(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
