/**
 * Writes what lets keyplane into a cluster of Amazon EKS (docs/first-eks-cluster.md), as commands and as Terraform: the role of the
 * deployment, which has no rights, and an access entry of the cluster that gives it a group.
 */
import { partitionOf } from './deployerpolicy.ts'

export interface EksAccess {
  /** Of the deployment. */
  stage: string
  /** The name of the cluster in EKS, and its region. */
  cluster: string
  region: string
}

/** The group of the role in the cluster, to which a RoleBinding gives rights. */
export const EKS_GROUP = 'keyplane-clusters'

const roleOf = (stage: string) => `keyplane-${stage}-clusters`

/** Only roles of functions of the deployment may assume the role. They are named after its stack, at any path. */
const trustOf = (stage: string, partition: string, account: string) => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Principal: { AWS: `arn:${partition}:iam::${account}:root` },
      Condition: {
        ArnLike: {
          'aws:PrincipalArn': ['role/', 'role/*/'].map(
            (path) => `arn:${partition}:iam::${account}:${path}keyplane-${stage}-*`,
          ),
        },
      },
    },
  ],
})

/** Returns the commands of a POSIX shell, one a line. */
export function eksCommands({ stage, cluster, region }: EksAccess): string[] {
  const partition = partitionOf(region)
  const role = roleOf(stage)
  // Within double quotes, the shell inserts the account.
  const trust = JSON.stringify(JSON.stringify(trustOf(stage, partition, '$ACCOUNT')))
  return [
    'ACCOUNT=$(aws sts get-caller-identity --query Account --output text)',
    `aws iam create-role --role-name ${role} --assume-role-policy-document ${trust}`,
    `aws eks create-access-entry --region ${region} --cluster-name ${cluster} --principal-arn "arn:${partition}:iam::$ACCOUNT:role/${role}" --kubernetes-groups ${EKS_GROUP}`,
  ]
}

/** Returns the same as a Terraform configuration, with the role in the cluster and the setting of the deployment as an output. */
export function eksTerraform({ stage, cluster, region }: EksAccess, namespace: string): string {
  const partition = partitionOf(region)
  const trust = JSON.stringify(trustOf(stage, partition, `\${data.aws_caller_identity.this.account_id}`), null, 2)
  return `data "aws_caller_identity" "this" {}

# Once for each deployment. It has no rights: access entries say what it may do.
resource "aws_iam_role" "keyplane_clusters" {
  name               = "${roleOf(stage)}"
  assume_role_policy = <<-EOT
${trust.replace(/^/gm, '    ')}
  EOT
}

# The provider "aws" is for the region ${region}.
data "aws_eks_cluster" "keyplane" {
  name = "${cluster}"
}

resource "aws_eks_access_entry" "keyplane" {
  cluster_name      = data.aws_eks_cluster.keyplane.name
  principal_arn     = aws_iam_role.keyplane_clusters.arn
  kubernetes_groups = ["${EKS_GROUP}"]
}

# The provider "kubernetes" is for this cluster.
resource "kubernetes_namespace_v1" "keyplane" {
  metadata { name = "${namespace}" }
}

resource "kubernetes_role_v1" "keyplane" {
  metadata {
    name      = "keyplane"
    namespace = kubernetes_namespace_v1.keyplane.metadata[0].name
  }
  rule {
    api_groups = [""]
    resources  = ["serviceaccounts/token"]
    verbs      = ["create"]
  }
  rule {
    api_groups = [""]
    resources  = ["secrets"]
    verbs      = ["create", "delete"]
  }
}

resource "kubernetes_role_binding_v1" "keyplane" {
  metadata {
    name      = "keyplane"
    namespace = kubernetes_namespace_v1.keyplane.metadata[0].name
  }
  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "Role"
    name      = kubernetes_role_v1.keyplane.metadata[0].name
  }
  subject {
    api_group = "rbac.authorization.k8s.io"
    kind      = "Group"
    name      = "${EKS_GROUP}"
  }
}

# The setting eks-cluster-arns of the deployment lists it.
output "keyplane_eks_cluster_arn" {
  value = data.aws_eks_cluster.keyplane.arn
}
`
}
