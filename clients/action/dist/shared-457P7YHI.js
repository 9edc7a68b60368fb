import {
  FEW,
  Failure,
  besideOf,
  describe,
  exchange,
  exchangeForKubeConfig,
  isBearer,
  lockFile,
  makeFolder,
  objectOf,
  passing,
  readHeld,
  recordExchanged,
  refusal,
  send,
  tokensIn,
  warningsIn,
  withAttempts,
  writeHeld
} from "./shared-M6EWCBLZ.js";

// ../../lib/clusters/cluster/network.ts
var HOST = /^(?:https?|socks5):\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]{0,4})?\/?$/;
var isProxyUrl = (text) => {
  const [, host] = HOST.exec(text) ?? [];
  return host !== void 0 && !/^[.-]|[.-]$/.test(host) && URL.canParse(text);
};
var NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;
var isTlsServerName = (text) => text.length <= 253 && NAME.test(text) && !/^[\d.]+$/.test(text);
var networkMembers = ({ proxyURL, tlsServerName }) => ({
  ...proxyURL && { "proxy-url": proxyURL },
  ...tlsServerName && { "tls-server-name": tlsServerName }
});

// ../core/src/projects.ts
var prefixOf = ({ projectNamespacePrefix = "p-" }) => projectNamespacePrefix;

// ../core/src/requests.ts
var GROUP_VERSION = "management.platform/v1";
var execType = (version = "v1") => `application/json;as=ExecCredential;g=client.authentication.k8s.io;v=${version}`;
var EXEC_CREDENTIAL = `${execType()},application/json`;
var create = (path, kind, spec) => ({
  path,
  body: { apiVersion: GROUP_VERSION, kind, spec }
});
var clusterToken = (cluster, seconds) => create("directclusterendpointtokens", "DirectClusterEndpointToken", {
  ttl: seconds,
  scope: { clusters: [{ cluster }] }
});
var clusterKubeConfig = (cluster, seconds) => create(`clusters/${encodeURIComponent(cluster)}/kubeconfig`, "ClusterKubeConfig", { ttl: seconds });
var kubeConfig = (namespace, name, spec) => create(
  `namespaces/${encodeURIComponent(namespace)}/virtualclusterinstances/${encodeURIComponent(name)}/kubeconfig`,
  "VirtualClusterInstanceKubeConfig",
  spec
);

// src/api/token.ts
async function requestToken(api, key, { target, seconds }, log) {
  const what = `the request for a token of ${describe(target)}`;
  const answer = target.type === "cluster" ? await post(api, key, { create: clusterToken(target.name, seconds), what, log }) : await post(api, key, {
    ...kubeConfigOf(api, target, { certificateTTL: seconds }),
    accept: EXEC_CREDENTIAL,
    log
  });
  const { token, expirationTimestamp } = answer;
  if (!isBearer(token)) throw new Failure(`the API answered without a token for ${describe(target)}`);
  return { token, ...expiry(expirationTimestamp) };
}
async function requestKubeConfig(api, key, { target, user }, log) {
  const spec = "seconds" in user ? { certificateTTL: user.seconds } : { exec: user };
  return askedConfig(api, key, { ...kubeConfigOf(api, target, spec), log }, target);
}
async function requestClusterConfig(api, key, { name, seconds }, log) {
  const target = { type: "cluster", name };
  const what = `the request for a kube config of ${describe(target)}`;
  return askedConfig(api, key, { create: clusterKubeConfig(name, seconds), what, log }, target);
}
async function askedConfig(api, key, asked, target) {
  const { log } = asked;
  const { kubeConfig: text, expirationTimestamp } = await post(api, key, asked);
  if (typeof text !== "string" || text === "")
    throw new Failure(`the API answered without a kube config of ${describe(target)}`);
  for (const token of tokensIn(text)) log.mask(token);
  return { text, ...expiry(expirationTimestamp) };
}
async function readAddress({ url, certificateAuthority }, key, name, log) {
  const what = `the request for the address of cluster ${name}`;
  const answer = await send({
    url: `${url}/apis/${GROUP_VERSION}/clusters/${name}`,
    method: "GET",
    headers: { authorization: `Bearer ${key}`, accept: "application/json" },
    ...certificateAuthority && { authorities: certificateAuthority }
  });
  if (answer.code !== 200) throw refusal(what, answer);
  for (const text of warningsIn(answer.headers.warning ?? [])) log.warning(text);
  const { spec, status } = objectOf(answer) ?? {};
  const { server, certificateAuthorityData: data, proxyURL = "", tlsServerName = "" } = spec ?? {};
  if (URL.parse(server ?? "")?.protocol !== "https:" || server === void 0)
    throw new Failure(`the API answered without the address of cluster ${name}`);
  if (proxyURL !== "" && !isProxyUrl(proxyURL) || tlsServerName !== "" && !isTlsServerName(tlsServerName))
    throw new Failure(`the API answered with a proxy or a TLS name of cluster ${name} that no kube config may have`);
  if (status?.canUse === false)
    throw new Failure(
      `the access key may see cluster ${name}, but not use it: spec.access of the cluster or the scope of the key does not allow it`
    );
  return {
    server,
    ...data && { certificateAuthority: Buffer.from(data, "base64").toString() },
    ...proxyURL && { proxyURL },
    ...tlsServerName && { tlsServerName }
  };
}
async function readSelf(api, key, log) {
  const what = "the check of the access key";
  const body = { apiVersion: GROUP_VERSION, kind: "Self", spec: {} };
  const create2 = { path: "selves", body };
  const { expirationTimestamp, projectNamespacePrefix } = await post(api, key, { create: create2, what, log });
  const said = typeof projectNamespacePrefix === "string" ? { projectNamespacePrefix } : {};
  return { projectNamespacePrefix: prefixOf(said), ...expiry(expirationTimestamp) };
}
var kubeConfigOf = ({ projectNamespacePrefix }, target, spec) => ({
  create: kubeConfig(`${projectNamespacePrefix}${target.project}`, target.name, spec),
  what: `the request for a kube config of ${describe(target)}`
});
async function post({ url, certificateAuthority }, key, { create: { path, body }, accept = "application/json", what, log }) {
  const answer = await send({
    url: `${url}/apis/${GROUP_VERSION}/${path}`,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, accept, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...certificateAuthority && { authorities: certificateAuthority }
  });
  const { status } = objectOf(answer) ?? {};
  if (answer.code !== 201) throw refusal(what, answer);
  for (const text of warningsIn(answer.headers.warning ?? [])) log.warning(text);
  return typeof status === "object" && status !== null ? status : {};
}
function expiry(timestamp) {
  const expires = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(expires) ? {} : { expires };
}

// ../core/src/plugin.ts
var EXEC_GROUP = "client.authentication.k8s.io";
var EXEC_APIS = ["v1", "v1beta1"];
var isExecApi = (text) => EXEC_APIS.includes(text);
var EXEC_VERSION = `${EXEC_GROUP}/v1`;
var EXEC_VERSIONS = EXEC_APIS.map((version) => `${EXEC_GROUP}/${version}`);
function askedExecVersion({
  KUBERNETES_EXEC_INFO: text
}) {
  return text ? JSON.parse(text)?.apiVersion : EXEC_VERSION;
}
var execCredential = (status, apiVersion) => `${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}
`;
function pluginUser({ command, args, env = {}, installHint, execApi = "v1" }) {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  return {
    exec: {
      apiVersion: `${EXEC_GROUP}/${execApi}`,
      command,
      args: [...args],
      ...variables.length > 0 && { env: variables },
      interactiveMode: "Never",
      provideClusterInfo: false,
      ...installHint !== void 0 && { installHint }
    }
  };
}

// src/session/renewal.ts
import { setTimeout as sleep } from "node:timers/promises";

// ../core/src/files/lock.ts
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { lstat, readdir, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
var LockError = class extends Error {
  name = "LockError";
  isHeld;
  constructor(message, { isHeld: isHeld2, cause }) {
    super(message, { cause });
    this.isHeld = isHeld2;
  }
};
async function withLock(lock, { elapsed, pause, waitMilliseconds = 5e3, staleMilliseconds = 3e4 }, work) {
  const name = holderName(process.pid, startOf(process.pid));
  const deadline = elapsed() + waitMilliseconds;
  while (await isHeld(lock, staleMilliseconds) || !await take(lock, name)) {
    if (elapsed() > deadline) throw new LockError(`Another process uses ${lock}.`, { isHeld: true });
    await pause(20 + Math.random() * 40);
  }
  try {
    return await work();
  } finally {
    await release(lock, name);
  }
}
var holderName = (pid, started = "", host = hostname()) => [pid, started, encodeURIComponent(host), randomBytes(8).toString("hex")].join(",");
function startOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)\s+/s, "").split(" ")[19];
  } catch {
    return void 0;
  }
}
var QUICKER = ["EEXIST", "ENOTEMPTY", "ENOTDIR", "EPERM", "EACCES", "ENOENT"];
async function take(lock, name) {
  const beside = besideOf(lock);
  try {
    await makeFolder(beside);
    await writeFile(join(beside, name), "", { flag: "wx", mode: 384 });
    await rename(beside, lock);
    return true;
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => {
    });
    const { code = "", syscall, message } = error;
    if (syscall === "rename" && QUICKER.includes(code)) return false;
    throw new LockError(`Cannot lock ${lock}: ${message}`, { isHeld: false, cause: error });
  }
}
async function release(lock, name) {
  await unlink(join(lock, name)).catch(() => {
  });
  await removeEmpty(lock);
}
var removeEmpty = (lock) => rmdir(lock).catch(() => {
});
async function isHeld(lock, staleMilliseconds) {
  const found = await lstat(lock).catch(() => void 0);
  if (found === void 0) return false;
  try {
    if (!found.isDirectory()) {
      if (!await isOld(lock, staleMilliseconds)) return true;
      await unlink(lock);
      return false;
    }
    for (const name of await readdir(lock)) {
      if (isAlive(name) && !await isOld(join(lock, name), staleMilliseconds)) return true;
      await unlink(join(lock, name));
    }
    await removeEmpty(lock);
    return false;
  } catch (error) {
    return error.code !== "ENOENT";
  }
}
var isOld = async (path, milliseconds) => Math.abs(Date.now() - (await lstat(path)).mtimeMs) > milliseconds;
function isAlive(name) {
  const [pid, started, host] = name.split(",");
  if (host !== encodeURIComponent(hostname())) return true;
  const now = startOf(Number(pid));
  if (started !== "" && now !== void 0) return started === now;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
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

// src/session/renewal.ts
var RENEWED_AT = 0.8;
var RENEWED_SECONDS = 900;
var LEAST_SECONDS = 60;
var REQUEST_SECONDS = 40;
var exchangeAnew = (folder, session, { env, log }, exchanging, most) => withAttempts(
  async () => {
    const { credential = "", scope, audience, certificateAuthority } = session;
    const idToken = await getIdToken({ env, audience, ...certificateAuthority && { certificateAuthority } }, log);
    const granted = await exchanging({ credential, idToken, ...scope && { scope } }, log);
    recordExchanged(folder, granted);
    return granted;
  },
  log.info,
  most
);
async function newKey(folder, session, surroundings, most) {
  const from = Date.now();
  const forKey = (given, log) => exchange(session, given, log);
  const { credential: key, expires } = await exchangeAnew(folder, session, surroundings, forKey, most);
  return { key, keyLife: { from, until: expires } };
}
async function newToken(folder, session, surroundings, most) {
  const from = Date.now();
  const { target } = session;
  const forToken = (given, log) => exchange(session, { ...given, target }, log);
  return keepToken(folder, from, await exchangeAnew(folder, session, surroundings, forToken, most));
}
async function newKubeConfig(folder, session, surroundings) {
  const from = Date.now();
  const { target } = session;
  const forConfig = (given, log) => exchangeForKubeConfig(session, { ...given, target }, log);
  const granted = await exchangeAnew(folder, session, surroundings, forConfig);
  await keepToken(folder, from, granted);
  return { ...granted, life: { from, until: granted.expires } };
}
async function keepToken(folder, from, { credential: token, expires }) {
  await writeHeld(folder, { token, tokenLife: { from, until: expires } });
  return { token, expires };
}
async function currentToken(folder, session, surroundings) {
  const known = tokenOf(readHeld(folder));
  if (known && isFresh(known.life)) return known;
  return oneAtATime(folder, async () => {
    const held = readHeld(folder);
    const last = tokenOf(held);
    if (last && isFresh(last.life)) return last;
    const { log } = surroundings;
    const most = isUsable(last) ? FEW : void 0;
    if (!("key" in held)) return unlessUnanswered(last, log, () => newToken(folder, session, surroundings, most));
    const { key, keyLife } = await renewedKey(folder, session, held, surroundings);
    const { target, ttl } = session;
    if (target.type === "management") return { token: key, ...keyLife && { expires: keyLife.until } };
    return unlessUnanswered(last, log, async () => {
      const seconds = () => ttl ?? secondsWithin(keyLife, RENEWED_SECONDS);
      const asked = () => requestToken(session, key, { target, seconds: seconds() }, log);
      const made = await withAttempts(asked, log.info, most);
      const tokenLife = made.expires === void 0 ? void 0 : { from: Date.now(), until: made.expires };
      await writeHeld(folder, { key, ...keyLife && { keyLife }, token: made.token, ...tokenLife && { tokenLife } });
      return made;
    });
  });
}
var WAIT_MILLISECONDS = 9e4;
var STALE_MILLISECONDS = 6e5;
function oneAtATime(folder, work) {
  const options = {
    elapsed: () => performance.now(),
    pause: sleep,
    waitMilliseconds: WAIT_MILLISECONDS,
    staleMilliseconds: STALE_MILLISECONDS
  };
  return withLock(lockFile(folder), options, work).catch((error) => {
    if (!(error instanceof LockError)) throw error;
    throw new Failure(error.isHeld ? "another process has been renewing the credential for too long" : error.message);
  });
}
async function renewedKey(folder, session, held, surroundings) {
  const { keyLife } = held;
  if (!keyLife || isFresh(keyLife)) return held;
  return unlessUnanswered({ ...held, life: keyLife }, surroundings.log, async () => {
    const most = isUsable({ life: keyLife }) ? FEW : void 0;
    const renewed = { ...held, ...await newKey(folder, session, surroundings, most) };
    await writeHeld(folder, renewed);
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

export {
  networkMembers,
  requestToken,
  requestKubeConfig,
  requestClusterConfig,
  readAddress,
  readSelf,
  EXEC_APIS,
  isExecApi,
  EXEC_VERSIONS,
  askedExecVersion,
  execCredential,
  pluginUser,
  newKey,
  newToken,
  newKubeConfig,
  currentToken,
  secondsWithin
};
