provider "kubernetes" {
  host                   = "https://API.execute-api.eu-central-1.amazonaws.com/prod/kubernetes/management"
  token                  = var.access_key
  cluster_ca_certificate = file(".local/ca.crt") # of `npm start` only
}

resource "kubernetes_manifest" "deploys" {
  manifest = {
    apiVersion = "management.platform/v1"
    kind       = "OwnedAccessKey"
    metadata   = { name = "deploys" }
    spec = {
      displayName = "Deploys of the shop"
      ttl         = 2592000
      scope       = { projects = [{ project = "shop" }] }
    }
  }
}

resource "kubernetes_manifest" "eu" {
  manifest = {
    apiVersion = "management.platform/v1"
    kind       = "Cluster"
    metadata   = { name = "eu" }
    spec = {
      server                   = "https://eu.example.com"
      certificateAuthorityData = filebase64("eu-ca.crt")
      access                   = [{ verbs = ["get", "use"], teams = ["shop"] }]
    }
  }
}

output "key" {
  value     = kubernetes_manifest.deploys.object.spec.key
  sensitive = true
}
