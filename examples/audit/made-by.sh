# Disables the access keys that one key made, from the audit records: for keys from before release 0.2.0. Repeat it with the uids of those.
KEY_UID=$(kubectl get ownedaccesskey NAME -o jsonpath='{.metadata.uid}')
for verb in create patch update rotate; do
  aws logs filter-log-events --log-group-name /aws/lambda/keyplane-$STAGE-ownedaccesskeys-$verb \
    --filter-pattern "{ (\$.keyUid = \"$KEY_UID\") && (\$.credential = \"access key\") && (\$.code < 300) }" \
    --query 'events[].message' --output json
done | KEY_UID=$KEY_UID node -e '
  const lines = require("node:fs").readFileSync(0, "utf8").match(/"\{\\"level.*"/g) ?? []
  for (const line of lines) {
    const { keyUid, credential, code, dryRun, name } = JSON.parse(JSON.parse(line))
    if (keyUid === process.env.KEY_UID && credential === "access key" && code < 300 && !dryRun) console.log(name)
  }' | xargs -r -n 1 kubectl patch ownedaccesskey --type merge -p '{"spec":{"disabled":true}}'
