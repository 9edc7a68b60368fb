resource "aws_cloudformation_stack" "keyplane" {
  name         = "keyplane-prod"
  template_url = "https://BUCKET.s3.eu-central-1.amazonaws.com/keyplane/0.2.0/keyplane.template.json"
  capabilities = ["CAPABILITY_IAM"]
  parameters   = { Stage = "prod", ArtifactBucket = "BUCKET", ArtifactPrefix = "keyplane/" }
}
