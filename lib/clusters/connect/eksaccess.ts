/**
 * Writes what lets keyplane into clusters of Amazon EKS (docs/first-eks-cluster.md), as commands and as Terraform: once for each deployment
 * the role, which has no rights, and for each cluster an access entry that gives the role a group. The two may be in different accounts.
 */

/** The group of the role in the cluster, to which a RoleBinding gives rights. */
export const EKS_GROUP = 'keyplane-clusters'

export interface EksCluster {
  /** The name of the cluster in EKS, and its region. */
  name: string
  region: string
}

/** The parts of the ARN of the role. */
export interface EksRole {
  arn: string
  partition: string
  account: string
  /** Begins and ends with a slash. */
  path: string
  name: string
}

const ARN = /^arn:(aws[a-z-]*):iam::(\d{12}):role(\/(?:[\w+=,.@-]+\/)*)(keyplane-[a-z][a-z0-9]{0,12}-clusters)$/

/** Returns undefined for the ARN of anything but the role of a deployment. */
export function eksRole(arn: string): EksRole | undefined {
  const [, partition = '', account = '', path = '', name = ''] = ARN.exec(arn) ?? []
  return name === '' ? undefined : { arn, partition, account, path, name }
}

/** Only roles of functions of the deployment may assume the role. They are named after its stack, at any path. */
const trustOf = ({ partition, account, name }: EksRole) => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Principal: { AWS: `arn:${partition}:iam::${account}:root` },
      Condition: {
        ArnLike: {
          'aws:PrincipalArn': ['role/', 'role/*/'].map(
            (path) => `arn:${partition}:iam::${account}:${path}${name.replace(/clusters$/, '*')}`,
          ),
        },
      },
    },
  ],
})

/** Returns the commands of a POSIX shell, one a line. They stop with credentials of an account that is not the deployment's. */
export function roleCommands(role: EksRole): string[] {
  const { account, path, name } = role
  return [
    `[ "$(aws sts get-caller-identity --query Account --output text)" = ${account} ] || { echo 'These are no credentials of account ${account}.' >&2; exit 1; }`,
    `aws iam create-role --path ${path} --role-name ${name} --assume-role-policy-document '${JSON.stringify(trustOf(role))}'`,
  ]
}

/** Returns the command for the account of the cluster. */
export const entryCommand = ({ arn }: EksRole, { name, region }: EksCluster): string =>
  `aws eks create-access-entry --region ${region} --cluster-name ${name} --principal-arn ${arn} --kubernetes-groups ${EKS_GROUP}`

/** Returns the role as a Terraform configuration. */
export const roleTerraform = (
  role: EksRole,
): string => `# The provider "aws" is for account ${role.account}, that of the deployment.
# Once for each deployment. The role has no rights: access entries say what it may do.
resource "aws_iam_role" "keyplane_clusters" {
  name               = "${role.name}"
  path               = "${role.path}"
  assume_role_policy = <<-EOT
${JSON.stringify(trustOf(role), null, 2).replace(/^/gm, '    ')}
  EOT
}
`

/** Returns the access entry, and the role in the cluster, as a Terraform configuration. */
export const clusterTerraform = (
  { arn }: EksRole,
  { name, region }: EksCluster,
  namespace: string,
): string => `# The provider "aws" is for the account and the region of the cluster, ${region}.
resource "aws_eks_access_entry" "keyplane" {
  cluster_name      = "${name}"
  principal_arn     = "${arn}"
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
`
