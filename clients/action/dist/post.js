import {
  fileNames,
  messageOf,
  readExchanged,
  readSession,
  removeFile,
  removeFolder,
  revoke,
  runnerLog,
  withAttempts
} from "./shared-HSVBWCV2.js";

// src/cleanup.ts
async function cleanUp(env, log) {
  const folder = savedOwn(env, "folder");
  const kubeConfig = savedOwn(env, "kubeconfig");
  const granted = folder && readGranted(folder.path, log);
  for (const credential of granted?.credentials ?? []) log.mask(credential);
  const left = [kubeConfig && removeFile(kubeConfig), folder && removeFolder(folder, fileNames)];
  for (const why of left) if (why !== void 0) log.warning(why);
  await Promise.all((granted?.credentials ?? []).map((credential) => tryToRevoke(granted?.api, credential, log)));
}
function savedOwn(env, name) {
  const [path, identity] = [env[`STATE_${name}`], env[`STATE_${name}-identity`]];
  return path && identity ? { path, identity } : void 0;
}
function readGranted(folder, log) {
  try {
    const credentials = readExchanged(folder);
    return credentials.length === 0 ? { credentials } : { api: readSession(folder), credentials };
  } catch (error) {
    log.warning(`The credential of this job cannot be revoked, and ends by itself: ${messageOf(error)}`);
    return { credentials: [] };
  }
}
async function tryToRevoke(api, credential, log) {
  if (!api) return;
  try {
    await withAttempts(() => revoke(api, credential), log.info);
    log.info("The credential of this job is revoked.");
  } catch (error) {
    log.warning(`The credential of this job is not revoked, and ends by itself: ${messageOf(error)}`);
  }
}

// src/post.ts
await cleanUp(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
