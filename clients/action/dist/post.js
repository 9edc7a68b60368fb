import {
  isFileOfSession,
  messageOf,
  readExchanged,
  readSession,
  removeFile,
  removeFolder,
  revoke,
  runnerLog,
  withAttempts
} from "./shared-M6EWCBLZ.js";

// src/cleanup.ts
async function cleanUp(env, log) {
  const folder = savedMade(env, "folder");
  const kubeConfig = savedMade(env, "kubeconfig");
  const granted = folder && readGranted(folder.path, log);
  for (const credential of granted?.credentials ?? []) log.mask(credential);
  const removals = [
    kubeConfig && reasonToStay(removeFile(kubeConfig), `${kubeConfig.path} is not the file that this step has written`),
    folder && reasonToStay(removeFolder(folder, isFileOfSession), `${folder.path} is not the folder that this step has made`)
  ];
  for (const why of await Promise.all(removals)) if (why !== void 0) log.warning(why);
  await Promise.all((granted?.credentials ?? []).map((credential) => tryToRevoke(granted?.api, credential, log)));
}
var reasonToStay = (removal, other) => removal.then((isGone) => isGone ? void 0 : `${other}, so it stays`, messageOf);
function savedMade(env, name) {
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
var unconfirmedText = (clusters) => `The credential of this job is revoked, but not every cluster has confirmed it (${clusters.join(", ")}): it may work there until it expires.`;
async function tryToRevoke(api, credential, log) {
  if (!api) return;
  try {
    const { isRevoked, unconfirmed } = await withAttempts(() => revoke(api, credential), log.info);
    if (unconfirmed.length > 0) log.warning(unconfirmedText(unconfirmed));
    else log.info(isRevoked ? "The credential of this job is revoked." : "The credential of this job had ended before.");
  } catch (error) {
    log.warning(`The credential of this job is not revoked, and ends by itself: ${messageOf(error)}`);
  }
}

// src/post.ts
await cleanUp(
  process.env,
  runnerLog((text) => void process.stdout.write(text))
);
