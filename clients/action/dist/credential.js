import {
  EXEC_VERSIONS,
  askedExecVersion,
  currentToken,
  execCredential
} from "./shared-457P7YHI.js";
import {
  Failure,
  messageOf,
  printable,
  readSession,
  warningOnce
} from "./shared-M6EWCBLZ.js";

// src/plugin.ts
async function runPlugin(folder, env, { out, err }) {
  const say = (message) => err(`keyplane: ${printable(message)}
`);
  const log = warningOnce(folder, { mask: () => {
  }, error: say, warning: say, info: say });
  try {
    const version = EXEC_VERSIONS.find((one) => one === askedExecVersion(env));
    if (version === void 0) throw new Failure(`the kube config must ask for ${EXEC_VERSIONS.join(" or ")}`);
    const { token, expires } = await currentToken(folder, readSession(folder), { env, log });
    const status = { ...expires !== void 0 && { expirationTimestamp: new Date(expires).toISOString() }, token };
    out(execCredential(status, version));
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
