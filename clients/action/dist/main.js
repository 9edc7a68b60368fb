import {
  EXEC_APIS,
  currentToken,
  isExecApi,
  networkMembers,
  newKey,
  newKubeConfig,
  newToken,
  pluginUser,
  readAddress,
  readSelf,
  requestClusterConfig,
  requestKubeConfig,
  requestToken,
  secondsWithin
} from "./shared-457P7YHI.js";
import {
  Failure,
  clusterFolder,
  describe,
  isBearer,
  isClientId,
  isName,
  keyFile,
  kubeConfigFile,
  makeFile,
  makeFolder,
  makeTemporaryFolder,
  messageOf,
  namesOf,
  runnerLog,
  virtualClusterIn,
  warningOnce,
  withAttempts,
  writeHeld,
  writeSession
} from "./shared-M6EWCBLZ.js";

// src/step.ts
import { dirname, join, resolve } from "node:path";

// ../../lib/clusters/deployment.ts
var BASE_PATH = "/kubernetes/management";
function deploymentName(url) {
  const { host, pathname } = new URL(url);
  return host + (pathname.endsWith(BASE_PATH) ? pathname.slice(0, -BASE_PATH.length) : pathname.replace(/\/$/, ""));
}
var entryNameOf = (cluster, url) => `${cluster}@${deploymentName(url)}`;

// ../core/src/durations.ts
var UNITS = { s: 1, m: 60, h: 3600, d: 86400, w: 604800, y: 31536e3 };
function durationSeconds(text) {
  if (!/^(?:\d{1,9}[smhdwy])+$/.test(text)) return void 0;
  const parts = [...text.matchAll(/(\d+)([smhdwy])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
}
var LARGEST_FIRST = [
  ["y", UNITS.y],
  ["d", UNITS.d],
  ["h", UNITS.h],
  ["m", UNITS.m]
];

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
    ...readRenewal(read),
    outputKey: readBoolean("output-key", read("output-key"))
  };
}
var FOR_ONE = ["key", "ttl", "server", "output-key"];
function readClusters(read, text) {
  const [name = "", ...others] = text.split(/[\s,]+/).filter((one) => one !== "");
  const all = [name, ...others];
  if (!all.every(isName))
    throw new Failure("cluster must be the name of a connected cluster, such as west, or several: eu, us");
  if (others.length === 0) return { type: "cluster", name };
  if (new Set(all).size < all.length) throw new Failure("cluster names a cluster twice");
  if (all.length > MOST_CLUSTERS) throw new Failure(`cluster may name at most ${MOST_CLUSTERS} clusters`);
  const given = FOR_ONE.find((input) => !/^(false|False|FALSE)?$/.test(read(input)));
  if (given) throw new Failure(`${given} is for one cluster, and cluster names several`);
  return { type: "cluster", name, others };
}
var MOST_CLUSTERS = 20;
function readRenewal(read) {
  const renew = readBoolean("renew", read("renew"));
  const execApi = read("exec-api") || "v1";
  if (!isExecApi(execApi)) throw new Failure(`exec-api must be one of ${EXEC_APIS.join(", ")}`);
  if (execApi !== "v1" && !renew) throw new Failure("exec-api is for kube configs with a plugin: it needs renew: true");
  return { renew, execApi };
}
function readUrl(input, value) {
  if (value === "") throw new Failure(`${input} is missing`);
  const url = URL.parse(value);
  if (url?.protocol !== "https:") throw new Failure(`${input} must be an https URL`);
  if (url.username || url.password || url.search || url.hash)
    throw new Failure(`${input} must have no user, query or fragment`);
  return url.href.replace(/\/+$/, "");
}
function readSource(read) {
  const [credential, key, scope] = [read("credential"), read("key"), read("scope")];
  if (credential && key) throw new Failure("give either credential or key, not both");
  if (key) {
    if (!isBearer(key)) throw new Failure("key is not an access key: it contains spaces or other characters");
    if (scope) throw new Failure("scope narrows the key of an exchange: it needs credential, not key");
    return { key };
  }
  if (!credential) {
    throw new Failure(
      "give credential, the NAME@UID of a FederatedIdentityCredential, or key. An empty key is a secret that this job does not get, as in workflows that a pull request of a fork starts"
    );
  }
  if (!isClientId(credential)) {
    throw new Failure(
      "credential must be NAME@UID of a FederatedIdentityCredential: kubectl get federatedidentitycredentials -o wide shows it as CLIENT ID"
    );
  }
  return { credential, ...scope && { scope } };
}
function readTarget(read, authority) {
  const [virtualCluster, cluster, server] = [read("virtual-cluster"), read("cluster"), read("server")];
  const serverAuthority = read("server-certificate-authority");
  if (virtualCluster && cluster) throw new Failure("give either virtual-cluster or cluster, not both");
  if (!cluster && (server || serverAuthority))
    throw new Failure("server and server-certificate-authority belong to cluster, which is missing");
  if (!server && serverAuthority) throw new Failure("server-certificate-authority belongs to server, which is missing");
  if (virtualCluster) {
    const found = virtualClusterIn(virtualCluster);
    if (!found) throw new Failure("virtual-cluster must be PROJECT/NAME, such as shop/staging");
    return { type: "virtualCluster", ...found };
  }
  if (!cluster) return { type: "management" };
  const target = readClusters(read, cluster);
  if (!server) return target;
  const given = serverAuthority || authority;
  const input = serverAuthority ? "server-certificate-authority" : "certificate-authority";
  const address = {
    server: readUrl("server", server),
    ...given && { certificateAuthority: readAuthorities(input, given) }
  };
  return { ...target, address };
}
function readSeconds(text) {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : durationSeconds(text);
  if (!seconds) throw new Failure("ttl must be a duration such as 90s, 30m, 12h or 7d");
  return seconds;
}
function readBoolean(input, text) {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)?$/.test(text)) return false;
  throw new Failure(`${input} must be true or false`);
}

// src/kubeconfig.ts
function kubeConfigText({ name, server, certificateAuthority, user, ...network }) {
  const authority = certificateAuthority && {
    "certificate-authority-data": Buffer.from(certificateAuthority).toString("base64")
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...authority, ...networkMembers(network) } }],
    users: [{ name, user: "token" in user ? user : pluginUser(user) }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name
  };
  return `${JSON.stringify(config, void 0, 2)}
`;
}
function withPlugins(text, plugins) {
  let next = 0;
  return text.replace(/^( *)token: .*$/gm, (line, indent) => {
    const plugin2 = plugins[next++];
    return plugin2 === void 0 ? line : `${indent}exec: ${JSON.stringify(pluginUser(plugin2).exec)}`;
  });
}
var withExecApi = (text, execApi) => text.replace(/^( *apiVersion: client\.authentication\.k8s\.io\/)v1$/m, `$1${execApi}`);

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
async function takeStep(env, runner) {
  runner.mask(readInput(env, "key"));
  const inputs = readInputs(env);
  const files = commandFiles(env);
  if (!env.RUNNER_TEMP) throw new Failure("RUNNER_TEMP is not set: this program runs as a step of GitHub Actions");
  const folder = await makeTemporaryFolder(env.RUNNER_TEMP, "keyplane-");
  saveMade(files, "folder", folder);
  const log = warningOnce(folder.path, runner);
  const kubeConfig = await makeNew(inputs.path === void 0 ? kubeConfigFile(folder.path) : resolve(inputs.path));
  if (inputs.path !== void 0) saveMade(files, "kubeconfig", kubeConfig);
  const { expires, key } = await fill(kubeConfig.file, folder.path, inputs, { env, log });
  files.setVariable("KUBECONFIG", kubeConfig.path);
  files.setOutput("kubeconfig", kubeConfig.path);
  if (key !== void 0) files.setOutput("key-file", keyFile(folder.path));
  if (expires !== void 0 && !inputs.renew) files.setOutput("expires", timestamp(expires));
  if (key !== void 0 && inputs.outputKey) files.setOutput("key", key);
  const end = inputs.renew ? "is renewed while the job runs" : `is valid ${until(expires)}`;
  log.info(`The kube config of ${describe(inputs.target)} ${end}.`);
}
function saveMade(files, name, { path, identity }) {
  files.saveState(name, path);
  files.saveState(`${name}-identity`, identity);
}
async function makeNew(path) {
  try {
    await makeFolder(dirname(path));
    return await makeFile(path);
  } catch (error) {
    if (error.syscall === "open" && error.code === "EEXIST")
      throw new Failure(`${path} exists. This step overwrites no file: give another path, or remove the file first`);
    throw new Failure(`${path} cannot be written: ${messageOf(error)}`);
  }
}
async function fill(file, folder, inputs, surroundings) {
  try {
    const asked = sessionOf(inputs);
    await writeSession(folder, asked);
    const make = isTokenEnough(inputs) ? configWithoutKey : configWithKey;
    const made = await make(folder, inputs, asked, surroundings);
    await file.writeFile(made.text);
    return made;
  } finally {
    await file.close();
  }
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
var isTokenEnough = ({ source, target, ttl, outputKey }) => "credential" in source && target.type !== "management" && ttl === void 0 && !outputKey;
async function configWithoutKey(folder, inputs, session, surroundings) {
  const { renew } = inputs;
  const { target, url } = session;
  if (target.type === "cluster" && target.address !== void 0) {
    const { token, expires: expires2 } = await newToken(folder, session, surroundings);
    const user = renew ? plugin(folder, inputs) : { token };
    return { text: kubeConfigText({ name: entryNameOf(target.name, url), ...target.address, user }), expires: expires2 };
  }
  const made = await newKubeConfig(folder, session, surroundings);
  const { text, expires } = made;
  if (!renew) return { text, expires };
  const folders = await foldersFor(folder, session, made);
  return {
    text: withPlugins(
      text,
      folders.map((one) => plugin(one, inputs))
    ),
    expires
  };
}
async function foldersFor(folder, session, { credential, others = [], life }) {
  const { target } = session;
  if (target.type !== "cluster" || others.length === 0) return [folder];
  const tokens = [credential, ...others];
  return Promise.all(
    namesOf(target).map(async (name, index) => {
      const own = clusterFolder(folder, name);
      await makeFolder(own);
      await writeSession(own, { ...session, target: { type: "cluster", name } });
      await writeHeld(own, { token: tokens[index] ?? "", tokenLife: life });
      return own;
    })
  );
}
async function configWithKey(folder, inputs, asked, surroundings) {
  const held = await getKey(folder, inputs, asked, surroundings);
  const session = await withPrefix(asked, held.key, surroundings.log);
  await writeSession(folder, session);
  return { ...await makeKubeConfig(folder, inputs, session, held, surroundings), key: held.key };
}
async function getKey(folder, { source }, session, surroundings) {
  if ("key" in source) {
    await writeHeld(folder, source);
    return source;
  }
  const held = await newKey(folder, session, surroundings);
  await writeHeld(folder, held);
  surroundings.log.info(`The access key of ${source.credential} is valid ${until(held.keyLife.until)}.`);
  return held;
}
async function withPrefix(session, key, { info }) {
  if (session.target.type !== "virtualCluster") return session;
  const { projectNamespacePrefix } = await withAttempts(() => readSelf(session, key, { warning: () => {
  } }), info);
  return { ...session, projectNamespacePrefix };
}
async function makeKubeConfig(folder, inputs, session, { key, keyLife }, { env, log }) {
  const { renew, execApi } = inputs;
  const { target, ttl } = session;
  const seconds = () => ttl ?? secondsWithin(keyLife, DEFAULT_SECONDS);
  if (target.type === "management") {
    const { expires } = keyLife ? { expires: keyLife.until } : await withAttempts(() => readSelf(session, key, log), log.info);
    const user2 = renew ? plugin(folder, inputs) : { token: key };
    return {
      text: kubeConfigText({ name: deploymentName(session.url), server: session.url, ...authorityOf(session), user: user2 }),
      ...expires !== void 0 && { expires }
    };
  }
  if (target.type === "virtualCluster") {
    const user2 = () => renew ? programOf(folder) : { seconds: seconds() };
    const made2 = await withAttempts(() => requestKubeConfig(session, key, { target, user: user2() }, log), log.info);
    if (!renew) return made2;
    const { token, expires } = await currentToken(folder, session, { env, log });
    log.mask(token);
    return { text: withExecApi(made2.text, execApi), ...expires !== void 0 && { expires } };
  }
  const { name, address: given } = target;
  if (!renew && given === void 0)
    return withAttempts(() => requestClusterConfig(session, key, { name, seconds: seconds() }, log), log.info);
  const address = given ?? await withAttempts(() => readAddress(session, key, name, log), log.info);
  const made = renew ? await currentToken(folder, session, { env, log }) : await withAttempts(() => requestToken(session, key, { target, seconds: seconds() }, log), log.info);
  log.mask(made.token);
  const user = renew ? plugin(folder, inputs) : { token: made.token };
  const text = kubeConfigText({ name: entryNameOf(name, session.url), ...address, user });
  return { text, ...made.expires !== void 0 && { expires: made.expires } };
}
var authorityOf = ({ certificateAuthority }) => certificateAuthority === void 0 ? {} : { certificateAuthority };
var plugin = (folder, { execApi }) => ({
  ...programOf(folder),
  execApi
});
var programOf = (folder) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, "credential.js"), folder]
});
var timestamp = (milliseconds) => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
var until = (expires) => expires === void 0 ? "until it is revoked" : `until ${timestamp(expires)}`;

// src/main.ts
process.exitCode = await runStep(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
