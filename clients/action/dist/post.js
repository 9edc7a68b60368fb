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
var MAX_WAIT_SECONDS = 30;
async function withAttempts(attempt2, report, most = MOST) {
  for (let count = 1; ; count++) {
    try {
      return await attempt2();
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
async function revoke(api, key) {
  const answer = await sendForm(api, "revoke", { token: key });
  if (answer.code !== 200) throw refused("the revocation of the access key", answer);
}
function refused(what, answer) {
  const isElsewhere = !mayPass(answer.code) && objectOf(answer)?.kind === "Status";
  return isElsewhere ? new Failure(`${what} failed: ${wrongUrl(answer)}`) : refusal(what, answer);
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
function removeFile({ path, identity }) {
  const found = identityAt(path);
  if (found === void 0) return void 0;
  if (found !== identity) return `${path} is not the file that this step has written, so it stays`;
  return attempt(() => unlinkSync(path));
}
function removeFolder({ path, identity }, names) {
  const found = identityAt(path);
  if (found === void 0) return void 0;
  if (found !== identity) return `${path} is not the folder that this step has made, so it stays`;
  const failed = names.map((name) => attempt(() => unlinkSync(join(path, name)))).find((why) => why !== void 0);
  return failed ?? attempt(() => rmdirSync(path));
}
function attempt(work) {
  try {
    work();
  } catch (error) {
    const { code } = error;
    return code === "ENOENT" ? void 0 : messageOf(error);
  }
}

// src/session/session.ts
import { appendFileSync, readFileSync } from "node:fs";
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
var readSession = (folder) => JSON.parse(readFileSync(join2(folder, files.session), "utf8"));
function readExchanged(folder) {
  try {
    return readFileSync(join2(folder, files.exchanged), "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

// src/cleanup.ts
async function cleanUp(env, log) {
  const folder = savedOwn(env, "folder");
  const kubeConfig = savedOwn(env, "kubeconfig");
  const granted = folder && readGranted(folder.path, log);
  for (const key of granted?.keys ?? []) log.mask(key);
  const left = [kubeConfig && removeFile(kubeConfig), folder && removeFolder(folder, fileNames)];
  for (const why of left) if (why !== void 0) log.warning(why);
  await Promise.all((granted?.keys ?? []).map((key) => tryToRevoke(granted?.api, key, log)));
}
function savedOwn(env, name) {
  const [path, identity] = [env[`STATE_${name}`], env[`STATE_${name}-identity`]];
  return path && identity ? { path, identity } : void 0;
}
function readGranted(folder, log) {
  try {
    const keys = readExchanged(folder);
    return keys.length === 0 ? { keys } : { api: readSession(folder), keys };
  } catch (error) {
    log.warning(`The access key of this job cannot be revoked, and ends by itself: ${messageOf(error)}`);
    return { keys: [] };
  }
}
async function tryToRevoke(api, key, log) {
  if (!api) return;
  try {
    await withAttempts(() => revoke(api, key), log.info);
    log.info("The access key of this job is revoked.");
  } catch (error) {
    log.warning(`The access key of this job is not revoked, and ends by itself: ${messageOf(error)}`);
  }
}

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

// src/post.ts
await cleanUp(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
