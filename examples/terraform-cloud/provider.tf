provider "kubernetes" {
  host = "https://keys.example.com/prod/kubernetes/management"
  exec {
    api_version = "client.authentication.k8s.io/v1"
    command     = "sh"
    args = ["-c", <<-EOT
      printf %s "$TFC_WORKLOAD_IDENTITY_TOKEN" | curl -sS --fail -w '%%{onerror}%%{stderr}%header{warning}\n' \
        -H 'Accept: application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io' \
        -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \
        -d subject_token_type=urn:ietf:params:oauth:token-type:jwt \
        -d client_id=shop-apply@3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11 --data-urlencode subject_token@- \
        https://keys.example.com/prod/kubernetes/management/oauth2/token
    EOT
    ]
  }
}
