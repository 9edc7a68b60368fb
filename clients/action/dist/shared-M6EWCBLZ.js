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

// ../core/src/files/privatefiles.ts
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
var identityOf = ({ dev, ino, birthtimeNs }) => `${dev}:${ino}:${birthtimeNs}`;
async function identityAt(path) {
  try {
    return identityOf(await lstat(path, { bigint: true }));
  } catch (error) {
    if (error.code === "ENOENT") return void 0;
    throw error;
  }
}
var BESIDE = /\.[0-9a-f]{12}\.tmp$/;
var besideOf = (path) => `${path}.${randomBytes(6).toString("hex")}.tmp`;
var intendedName = (name) => name.replace(BESIDE, "");
async function makeFolder(path, isAgain = false) {
  const above = dirname(path);
  try {
    await mkdir(path, 448);
  } catch (error) {
    const isMissing = error.code === "ENOENT";
    if (isMissing && !isAgain && above !== path) {
      if (await identityAt(above) === void 0) await makeFolder(above);
      return makeFolder(path, true);
    }
    if (await stat(path).then(
      (found) => found.isDirectory(),
      () => false
    ))
      return;
    throw error;
  }
  await chmod(path, 448);
}
async function makeTemporaryFolder(parent, prefix) {
  const path = await mkdtemp(join(parent, prefix));
  await chmod(path, 448);
  return { path, identity: await identityAt(path) ?? "" };
}
async function makeFile(path, mode = 384) {
  const file = await open(path, "wx", mode);
  const found = await file.stat({ bigint: true });
  const made = { path, identity: identityOf(found), file };
  if ((Number(found.mode) & mode) !== mode) await file.chmod(mode).catch((error) => discard(made, error));
  return made;
}
async function discard(made, error) {
  await made.file.close().catch(() => {
  });
  await removeFile(made).catch(() => {
  });
  throw error;
}
async function replaceFile(path, content, mode) {
  const made = await makeFile(besideOf(path), mode);
  try {
    await made.file.writeFile(content);
    await made.file.sync();
    await made.file.close();
    await renameOver(made.path, path);
    return { path, identity: made.identity };
  } catch (error) {
    return discard(made, error);
  }
}
async function removeFile({ path, identity }) {
  const found = await identityAt(path);
  if (found === identity) await rm(path, { force: true });
  return found === identity || found === void 0;
}
async function removeFolder({ path, identity }, own) {
  const found = await identityAt(path);
  if (found !== identity) return found === void 0;
  const names = (await readdir(path)).filter(own);
  const removals = names.map((name) => rm(join(path, name), { recursive: true, force: true, maxRetries: 3 }));
  for (const removal of await Promise.allSettled(removals)) if (removal.status === "rejected") throw removal.reason;
  await rmdir(path);
  return true;
}
var IN_USE = ["EPERM", "EACCES", "EBUSY"];
var TRIES = 40;
var TURN_MILLISECONDS = 50;
async function renameOver(from, to, { platform = process.platform, attempt = rename, pause = sleep } = {}) {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(from, to);
    } catch (error) {
      const isInUse = platform === "win32" && IN_USE.includes(error.code ?? "");
      if (!isInUse || tries === TRIES) throw error;
      await pause(TURN_MILLISECONDS);
    }
  }
}

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
import { setTimeout as sleep2 } from "node:timers/promises";

// ../core/src/answers.ts
var mayPass = (code) => code === 408 || code === 429 || code >= 500;
function objectIn(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : void 0;
  } catch {
    return void 0;
  }
}
var retryAfterIn = (header) => /^\d{1,9}$/.test(header ?? "") ? Number(header) : void 0;
var isStatus = (body) => body?.kind === "Status";
var textOf = (value) => typeof value === "string" && value !== "" ? value : void 0;
var messageOf2 = ({ message }) => textOf(message);
function causesOf({ details }, message) {
  const causes = details?.causes;
  return (Array.isArray(causes) ? causes : []).flatMap((one) => {
    const [cause, field] = [textOf(one?.message), textOf(one?.field)];
    if (cause === void 0 || message.includes(cause)) return [];
    return [field === void 0 ? cause : `${field}: ${cause}`];
  });
}
var isUnknownPath = (code, body) => code === 403 && (body?.message === "Forbidden" || body?.message === "Missing Authentication Token") && Object.keys(body).length === 1;
var asSentence = (text) => /[.!?]$/.test(text) ? text : `${text}.`;

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
      report(`Attempt ${count} of ${most} failed: ${asSentence(error.message)} The next one is in ${seconds} s.`);
      await sleep2(seconds * 1e3);
    }
  }
}

// ../core/src/exchange.ts
var FORM_TYPE = "application/x-www-form-urlencoded";
var KUBE_CONFIG_TYPE = "application/yaml;as=KubeConfig";
var CLUSTER_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:jwt";
var clusterAudience = (name) => `clusters/${name}`;
var virtualClusterAudience = (project, name) => `virtualclusters/${project}/${name}`;
function exchangeForm(clientID, idToken, { scope, audience = [] } = {}) {
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    client_id: clientID,
    subject_token: idToken,
    ...scope && { scope }
  });
  for (const one of [audience].flat()) form.append("audience", one);
  return form.toString();
}

// src/api/target.ts
var namesOf = ({ name, others = [] }) => [
  name,
  ...others
];
function audiencesOf(target) {
  if (target?.type === "virtualCluster") return [virtualClusterAudience(target.project, target.name)];
  return target?.type === "cluster" ? namesOf(target).map(clusterAudience) : [];
}
function describe(target) {
  if (target.type === "virtualCluster") return `virtual cluster ${target.project}/${target.name}`;
  if (target.type === "management") return "the management API";
  const names = namesOf(target);
  return `${names.length > 1 ? "clusters" : "cluster"} ${names.join(", ")}`;
}

// ../core/src/forms.ts
var isName = (text) => text.length <= 253 && text.split(".").every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part));
var isBearer = (text) => typeof text === "string" && /^[\x21-\x7e]+$/.test(text);
var isClientId = (text) => /^[a-z0-9][-a-z0-9.]*@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
function virtualClusterIn(text) {
  const [project = "", name = "", more] = text.split("/");
  return more === void 0 && isName(project) && isName(name) ? { project, name } : void 0;
}

// ../core/src/warnings.ts
function warningsIn(headers) {
  return headers.flatMap(
    (header) => [...header.matchAll(/(?:^|,\s*)299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1"))
  );
}

// src/api/https.ts
import { Agent } from "node:https";

// ../core/src/https.ts
var SILENCE_MILLISECONDS = 45e3;
var LargeAnswerError = class extends Error {
  name = "LargeAnswerError";
};
async function sendHttps({
  url,
  method,
  headers,
  body,
  authorities,
  signal,
  agent,
  serverName,
  mostMebibytes
}) {
  const https = await import("node:https");
  return new Promise((resolve, reject) => {
    const fail = (error) => {
      clearTimeout(limit);
      reject(signal.aborted ? signal.reason : error);
    };
    const request = https.request(
      url,
      {
        method,
        // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
        rejectUnauthorized: true,
        signal,
        ...agent && { agent },
        ...serverName && { servername: serverName },
        ...authorities !== void 0 && { ca: authorities },
        headers: { ...body !== void 0 && { "content-length": String(Buffer.byteLength(body)) }, ...headers }
      },
      (response) => {
        const chunks = [];
        let size = 0;
        response.on("data", (chunk) => {
          limit.refresh();
          size += chunk.length;
          if (size <= mostMebibytes * 1024 * 1024) chunks.push(chunk);
          else request.destroy(new LargeAnswerError(`${url.origin} sends more than ${mostMebibytes} MiB.`));
        });
        response.on("error", fail);
        response.on("end", () => {
          clearTimeout(limit);
          const text = Buffer.concat(chunks).toString();
          resolve({ code: response.statusCode ?? 0, headers: response.headersDistinct, text });
        });
      }
    );
    const limit = setTimeout(
      () => request.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })),
      SILENCE_MILLISECONDS
    );
    request.on("error", fail);
    request.end(body);
  });
}

// ../core/src/networkfailure.ts
var UNTRUSTED = [
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT"
];
var USUAL_PORTS = { "http:": 80, "https:": 443 };
function failedProxy({ code, hostname, address, port }, host, env) {
  const proxy = URL.parse(env.https_proxy || env.HTTPS_PROXY || "");
  const target = URL.parse(`https://${host}`);
  if (!proxy || !target) return void 0;
  const portOf = (url) => Number(url.port) || USUAL_PORTS[url.protocol];
  const isThere = code === "ERR_PROXY_TUNNEL" || hostname !== void 0 && hostname === proxy.hostname && hostname !== target.hostname || port !== void 0 && port === portOf(proxy) && (port !== portOf(target) || address === proxy.hostname);
  return isThere ? proxy : void 0;
}
function proxyFailure({ code = "", statusCode }, proxy, host) {
  const failure = (text, isPassing) => ({ kind: "proxy", text, isPassing });
  const named = `the proxy ${proxy.host}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return failure(`The host of ${named} cannot be found.`, code === "EAI_AGAIN");
  if (code === "ECONNREFUSED") return failure(`Nothing listens at ${named}.`, true);
  const answer = statusCode === void 0 ? "" : `: it answered ${statusCode}`;
  const isRefused = statusCode !== void 0 && statusCode < 500;
  return failure(`The proxy ${proxy.host} gives no connection to ${host}${answer}.`, !isRefused);
}
function networkFailure(error, host, env = process.env) {
  const { code = "", message } = error;
  const place = error;
  const proxy = failedProxy(place, host, env);
  if (proxy) return proxyFailure(place, proxy, host);
  const failure = (kind, text) => ({
    kind,
    text,
    isPassing: !/CERT|SIGNATURE|EPROTO|ERR_SSL|ENOTFOUND/.test(code)
  });
  if (UNTRUSTED.includes(code))
    return failure("untrusted", `The certificate of ${host} is not signed by an authority that this machine trusts.`);
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return failure("expired", `The certificate of ${host} has expired or is not valid yet.`);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return failure("otherHost", `The certificate of ${host} is for another host.`);
  if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
    return failure("notHttps", `${host} does not speak HTTPS on this port.`);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return failure("unknownHost", `The host ${host} cannot be found.`);
  if (code === "ECONNREFUSED") return failure("notListening", `Nothing listens at ${host}.`);
  if (code === "ETIMEDOUT") return failure("silent", `${host} did not answer in time.`);
  if (code === "ECONNRESET") return failure("closed", `${host} closed the connection before it answered.`);
  return failure("other", asSentence(`The request to ${host} failed: ${message}`));
}

// src/api/https.ts
var TIMEOUT_SECONDS = 35;
var MOST_MEBIBYTES = 4;
async function send({ url, headers, ...request }) {
  const target = new URL(url);
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1e3);
  const agent = new Agent({ proxyEnv: process.env });
  const sent = { ...request, url: target, headers: { "user-agent": "keyplane-action", ...headers }, signal, agent };
  try {
    const answer = await sendHttps({ ...sent, mostMebibytes: MOST_MEBIBYTES });
    return { ...answer, url: target.origin + target.pathname };
  } catch (error) {
    throw failureOf(error, target, signal.aborted);
  } finally {
    agent.destroy();
  }
}
function failureOf(error, { host }, isLate) {
  if (error instanceof LargeAnswerError) return new Failure(error.message, { isPassing: true, cause: error });
  if (isLate)
    return new Failure(`${host} did not answer within ${TIMEOUT_SECONDS} seconds.`, { isPassing: true, cause: error });
  const { kind, text, isPassing } = networkFailure(error, host);
  const hint = "If the server has an authority of its own, give its certificate as certificate-authority";
  return new Failure(kind === "untrusted" ? `${text} ${hint}` : text, {
    // The names of a network may be unknown only for a moment.
    isPassing: isPassing || kind === "unknownHost",
    cause: error
  });
}

// src/api/refusal.ts
var objectOf = ({ text }) => objectIn(text);
function refusal(what, answer) {
  return new Failure(`${what} failed: ${reasonOf(answer)}`, passing(answer));
}
function passing({ code, headers }) {
  const retryAfter = retryAfterIn(headers["retry-after"]?.[0]);
  return { isPassing: mayPass(code), ...retryAfter !== void 0 && { retryAfter } };
}
function reasonOf(answer) {
  const { code, url, headers } = answer;
  const body = objectOf(answer);
  if (isStatus(body)) return statusText(body, code);
  if (typeof body?.error === "string") return `${code} ${body.error_description ?? body.error}`;
  if (code >= 300 && code < 400)
    return `${url} redirects to ${headers.location?.[0] ?? "another address"}. Give that address as url, if it is the right one`;
  if (isUnknownPath(code, body)) return wrongUrl(answer);
  return `${url} answered ${code}, but not as this API does. url must be the URL of the API, which ends in /kubernetes/management`;
}
var wrongUrl = ({ url }) => `there is no ${url}: the stage or the path in url is wrong. It is the whole URL of the API, with its stage if there is one: https://HOST/STAGE/kubernetes/management`;
function statusText(status, code) {
  const text = messageOf2(status) ?? "no reason given";
  const hint = code === 401 ? ["The access key is no longer valid, or belongs to another deployment"] : [];
  return [`${code} ${text}`, ...causesOf(status, text), ...hint].join("\n");
}

// src/api/writtentokens.ts
var tokensIn = (text) => [...text.matchAll(/^ *token: *["']?([^\s"']+)/gm)].map(([, token = ""]) => token);

// src/api/exchange.ts
var sendForm = ({ url, certificateAuthority }, path, form, accept = "application/json") => send({
  url: `${url}/oauth2/${path}`,
  method: "POST",
  headers: { "content-type": FORM_TYPE, accept },
  body: form,
  ...certificateAuthority && { authorities: certificateAuthority }
});
async function exchange(api, { credential, idToken, scope, target }, log) {
  const asked = Date.now();
  const what = target === void 0 ? "an access key" : `a token of ${describe(target)}`;
  const answer = await sendForm(
    api,
    "token",
    exchangeForm(credential, idToken, { scope, audience: audiencesOf(target) })
  );
  const { access_token: granted, expires_in: seconds, issued_token_type: type } = objectOf(answer) ?? {};
  if (typeof granted === "string") log.mask(granted);
  if (answer.code !== 200) throw refused(`the exchange of the ID token for ${what}`, answer);
  const isAsked = target === void 0 || type === CLUSTER_TOKEN_TYPE;
  if (!isAsked || !isBearer(granted) || typeof seconds !== "number" || !(seconds > 0))
    throw new Failure(`${answer.url} answered without ${what}: is url the URL of the API?`);
  showWarnings(answer, log);
  return { credential: granted, expires: asked + seconds * 1e3 };
}
async function exchangeForKubeConfig(api, { credential, idToken, scope, target }, log) {
  const form = exchangeForm(credential, idToken, { scope, audience: audiencesOf(target) });
  const answer = await sendForm(api, "token", form, KUBE_CONFIG_TYPE);
  const tokens = tokensIn(answer.text);
  for (const token of tokens) log.mask(token);
  const [first = "", ...others] = tokens;
  if (answer.code !== 200)
    throw refused(`the exchange of the ID token for a kube config of ${describe(target)}`, answer);
  const expires = Math.min(...tokens.map((token) => expiryOf(token) ?? Number.NaN));
  if (tokens.length !== audiencesOf(target).length || Number.isNaN(expires))
    throw new Failure(`${answer.url} answered without a kube config of ${describe(target)}: is url the URL of the API?`);
  showWarnings(answer, log);
  return { credential: first, expires, text: answer.text, ...others.length > 0 && { others } };
}
function expiryOf(token) {
  const seconds = objectIn(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())?.exp;
  return typeof seconds === "number" ? seconds * 1e3 : void 0;
}
function showWarnings({ headers }, log) {
  for (const text of warningsIn(headers.warning ?? [])) log.warning(text);
}
async function revoke(api, credential) {
  const answer = await sendForm(api, "revoke", new URLSearchParams({ token: credential }).toString());
  if (answer.code !== 200) throw refused("the revocation of the credential", answer);
  const { revoked, unconfirmed } = objectOf(answer) ?? {};
  const clusters = Array.isArray(unconfirmed) ? unconfirmed.filter((one) => typeof one === "string") : [];
  return { isRevoked: revoked === true, unconfirmed: clusters };
}
function refused(what, answer) {
  const isElsewhere = !mayPass(answer.code) && isStatus(objectOf(answer));
  return isElsewhere ? new Failure(`${what} failed: ${wrongUrl(answer)}`) : refusal(what, answer);
}

// src/session/session.ts
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join as join2 } from "node:path";
var files = {
  session: "session.json",
  held: "credential.json",
  /** The key alone, for curl and other programs. */
  key: "key",
  /** Every key and token of an exchange, one a line, for the post step. */
  exchanged: "exchanged",
  kubeConfig: "kubeconfig",
  lock: "lock",
  /** The warnings that the job has shown. */
  warned: "warned"
};
var CLUSTER = "cluster-";
var clusterFolder = (folder, name) => join2(folder, `${CLUSTER}${name}`);
var isFileOfSession = (name) => name.startsWith(CLUSTER) || Object.values(files).includes(intendedName(name));
var keyFile = (folder) => join2(folder, files.key);
var kubeConfigFile = (folder) => join2(folder, files.kubeConfig);
var lockFile = (folder) => join2(folder, files.lock);
async function writeSession(folder, session) {
  await replaceFile(join2(folder, files.session), JSON.stringify(session));
}
var readSession = (folder) => JSON.parse(readFileSync(join2(folder, files.session), "utf8"));
var recordExchanged = (folder, { credential, others = [] }) => appendFileSync(join2(folder, files.exchanged), `${[credential, ...others].join("\n")}
`, { mode: 384 });
function readExchanged(folder) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(CLUSTER)) : [];
  return [folder, ...names.map((name) => join2(folder, name))].flatMap(grantedIn);
}
function grantedIn(folder) {
  try {
    return readFileSync(join2(folder, files.exchanged), "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}
var warningOnce = (folder, log) => ({
  ...log,
  warning(message) {
    const file = join2(folder, files.warned);
    const kind = `${message.replace(/\d+/g, "0").replaceAll("\n", " ")}
`;
    if (existsSync(file) && readFileSync(file, "utf8").includes(kind)) return;
    appendFileSync(file, kind, { mode: 384 });
    log.warning(message);
  }
});
async function writeHeld(folder, held) {
  if ("key" in held) await replaceFile(keyFile(folder), held.key);
  await replaceFile(join2(folder, files.held), JSON.stringify(held));
}
function readHeld(folder) {
  try {
    return JSON.parse(readFileSync(join2(folder, files.held), "utf8"));
  } catch (error) {
    throw new Error(`the folder of the step cannot be read: ${messageOf(error)}`);
  }
}

export {
  runnerLog,
  printable,
  besideOf,
  makeFolder,
  makeTemporaryFolder,
  makeFile,
  removeFile,
  removeFolder,
  Failure,
  messageOf,
  FEW,
  withAttempts,
  namesOf,
  describe,
  isName,
  isBearer,
  isClientId,
  virtualClusterIn,
  warningsIn,
  send,
  objectOf,
  refusal,
  passing,
  tokensIn,
  exchange,
  exchangeForKubeConfig,
  revoke,
  clusterFolder,
  isFileOfSession,
  keyFile,
  kubeConfigFile,
  lockFile,
  writeSession,
  readSession,
  recordExchanged,
  readExchanged,
  warningOnce,
  writeHeld,
  readHeld
};
