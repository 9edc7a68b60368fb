# The tour in PowerShell. No test runs it: it was tried with Node.js for Windows under Wine, with the arguments that PowerShell passes.
$env:PATH = "$PWD\node_modules\.bin;$env:PATH"
$env:KUBECONFIG = "$PWD\.local\kubeconfig"
$base = kubectl config view --minify -o "jsonpath={.clusters[0].cluster.server}"
kubectl auth whoami

$name, $key = (@'
apiVersion: management.platform/v1
kind: OwnedAccessKey
metadata:
  generateName: ci-
spec:
  displayName: CI of demo
  user: alice
  ttl: 86400
  scope:
    projects:
      - project: demo
'@ | kubectl create -o "jsonpath={.metadata.name} {.spec.key}" -f -) -split ' '
kubectl get ownedaccesskey $name
$key | keyplane login $base --ca .local\ca.crt --context ci
keyplane kubeconfig demo/demo --context ci --with token --ttl 1h --output demo.kubeconfig
kubectl --kubeconfig demo.kubeconfig get pods

@'
apiVersion: management.platform/v1
kind: DirectClusterEndpointToken
spec:
  ttl: 600
  scope:
    clusters:
      - cluster: west
'@ | kubectl create -o "jsonpath={.status.token}" -f -

$job = @{}
Get-Content .local\job.env | ForEach-Object { if ($_ -match "^export (\w+)='(.*)'$") { $job[$Matches[1]] = $Matches[2] } }
$answer = "Authorization: Bearer $($job.ACTIONS_ID_TOKEN_REQUEST_TOKEN)" |
  curl.exe -sS --cacert .local\ca.crt --ssl-no-revoke -H '@-' "$($job.ACTIONS_ID_TOKEN_REQUEST_URL)&audience=$base"
Set-Content id-token ($answer | ConvertFrom-Json).value
keyplane login $base --ca .local\ca.crt --context job --exchange $job.CREDENTIAL --token-file id-token
keyplane whoami --context job

'{}' | kubectl create --raw "/apis/management.platform/v1/ownedaccesskeys/$name/rotate" -f -
kubectl get ownedaccesskey $name -o "jsonpath={.status.values[*].state}"

kubectl patch ownedaccesskey $name --type merge -p 'spec: {disabled: true}'
keyplane whoami --context ci
kubectl delete ownedaccesskey $name
keyplane logout --context ci
keyplane logout --context job
Remove-Item demo.kubeconfig, id-token
