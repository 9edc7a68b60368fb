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
} from "./shared-MB2TNFNB.js";

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

// src/post.ts
await cleanUp(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
