/**
 * Describes the claims of each type of issuer: which identify a tenant permanently, and which only appear to. Each entry
 * names the documentation from which its claims are taken.
 */
import type { IssuerType } from './issuers.ts'

/** A form that the text of a claim must have. */
interface ClaimForm {
  form: RegExp
  /** Completes the sentence “CLAIM is …”. */
  text: string
}

/** What is known about the claims of one type of issuer. */
export interface TypeRules {
  /** Claims of which a trust binds one to exact values. Empty: it binds any claim that identifies the workload. */
  tenancy: readonly string[]
  /** The claims that bind an organization. A provider of a shared issuer binds one of them. */
  owner: readonly string[]
  /** The form of the values of `tenancy`. */
  form?: ClaimForm
  /** Claims whose exact values bind a tenant and a job in this form only: with the ids of the tenant beside its names. */
  withIds?: Readonly<Record<string, ClaimForm>>
  /** The form of a pattern on a claim of `tenancy` that binds a tenant as well as values do. */
  tenancyPattern?: ClaimForm
  /** Claims that name a tenant until somebody else takes the name, each with the claim to bind. */
  names: Readonly<Record<string, string>>
  /** Claims that name where a job runs, each with the claim to bind. Code of strangers may run there too. */
  places?: Readonly<Record<string, string>>
  /** Completes the sentence “ISSUER signs for …” of a private issuer. */
  tenants: string
  /** Says how a job gets a token with the claims of `tenancy`, where it must ask for them. */
  hint?: string
  /** Claims that people at the issuer can change. They do not identify the workload. */
  mutable?: readonly string[]
  /** The form of patterns on claims that begin with a name: with a wildcard in it, anyone could choose a name that fits. */
  patternForms?: Readonly<Record<string, ClaimForm>>
  /** The claim that says why or how a job runs. A token with another value needs a trust that lists the value. */
  events?: { claim: string; accepted: readonly string[]; risks: Readonly<Record<string, string>> }
  /** Claims of which a trust should bind one, or all of an inner list, each with who is accepted otherwise. */
  advised: readonly { oneOf: readonly (string | readonly string[])[]; otherwise: string }[]
  /** Claims that tell people which job a key is for, and the number of the job with its word. */
  display: { parts: readonly string[]; number?: { claim: string; word: string } }
  /** Claims that the records of an exchange show. */
  recorded: readonly string[]
}

const DIGITS: ClaimForm = { form: /^[0-9]{1,19}$/, text: 'a string of digits' }
const UUID: ClaimForm = {
  form: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  text: 'a UUID in lower case',
}

const OWNER_FIRST: ClaimForm = { form: /^[^*/]+\//, text: 'OWNER/REST without a wildcard in OWNER' }
const HOST_FIRST: ClaimForm = {
  form: /^[^*/]+\/[^*/]+\//,
  text: 'HOST/OWNER/REST without a wildcard in HOST and OWNER',
}

const OUTSIDERS = 'people without write access to the repository can cause it'

export const typeRules = {
  // https://docs.github.com/en/actions/reference/security/oidc
  GitHub: {
    tenants: 'every repository',
    tenancy: ['repository_id', 'repository_owner_id', 'enterprise_id'],
    owner: ['repository_owner_id', 'enterprise_id'],
    form: DIGITS,
    names: {
      repository: 'repository_id',
      repository_owner: 'repository_owner_id',
      enterprise: 'enterprise_id',
      sub: 'repository_id',
    },
    // No name has an @, and the keys of a customized sub have other beginnings.
    withIds: {
      sub: { form: /^repo:[^@/:]+@[0-9]{1,19}\/[^@/:]+@[0-9]{1,19}:./, text: 'repo:OWNER@ID/REPOSITORY@ID:REST' },
    },
    patternForms: { job_workflow_ref: OWNER_FIRST, workflow_ref: OWNER_FIRST },
    // Some events start a workflow of the default branch, with its rights, for people who may not write to the repository.
    // https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
    events: {
      claim: 'event_name',
      accepted: 'push workflow_dispatch repository_dispatch schedule release merge_group deployment'.split(' '),
      risks: {
        pull_request_target: OUTSIDERS,
        workflow_run: OUTSIDERS,
        issue_comment: OUTSIDERS,
        issues: OUTSIDERS,
        discussion: OUTSIDERS,
        discussion_comment: OUTSIDERS,
      },
    },
    advised: [
      {
        oneOf: ['ref', 'environment', 'job_workflow_ref', 'workflow_ref'],
        otherwise: 'anyone who can push to a branch',
      },
      { oneOf: ['repository_id'], otherwise: 'every repository of the owner' },
    ],
    display: { parts: ['repository', 'environment'], number: { claim: 'run_id', word: 'run' } },
    recorded: [
      'repository',
      'repository_id',
      'ref',
      'sha',
      'environment',
      'event_name',
      'actor',
      'run_id',
      'workflow_ref',
    ],
  },
  // https://docs.gitlab.com/ci/secrets/id_token_authentication
  GitLab: {
    tenants: 'every project',
    tenancy: ['project_id', 'namespace_id'],
    owner: ['namespace_id', 'project_id'],
    form: DIGITS,
    names: { project_path: 'project_id', namespace_path: 'namespace_id', sub: 'project_id' },
    // For the merge request of a fork, this may be the target project, while the code is the fork's.
    // https://gitlab.com/gitlab-org/gitlab/-/work_items/563038
    places: {
      job_project_id: 'project_id',
      job_project_path: 'project_id',
      job_namespace_id: 'namespace_id',
      job_namespace_path: 'namespace_id',
    },
    patternForms: { ci_config_ref_uri: HOST_FIRST },
    advised: [
      // A tag may have the name of a branch, and anyone who pushes may choose the name of an environment.
      {
        oneOf: [['ref_type', 'ref_protected'], 'environment_protected'],
        otherwise: 'anyone who can push an unprotected branch or tag',
      },
      { oneOf: ['project_id'], otherwise: 'every project of the namespace' },
    ],
    display: { parts: ['project_path', 'environment'], number: { claim: 'job_id', word: 'job' } },
    recorded: ['project_path', 'project_id', 'ref', 'sha', 'environment', 'pipeline_source', 'user_login', 'job_id'],
  },
  // https://buildkite.com/docs/agent/cli/reference/oidc. A job asks for the claims that end in _id with --claim.
  Buildkite: {
    tenants: 'every pipeline',
    tenancy: ['organization_id', 'pipeline_id', 'cluster_id', 'queue_id'],
    hint: 'a job asks for them with buildkite-agent oidc request-token --claim',
    owner: ['organization_id'],
    form: UUID,
    names: { organization_slug: 'organization_id', pipeline_slug: 'pipeline_id', sub: 'pipeline_id' },
    advised: [
      { oneOf: ['build_branch', 'step_key'], otherwise: 'anyone who can start a build' },
      { oneOf: ['pipeline_id'], otherwise: 'every pipeline that the other claims allow' },
    ],
    display: { parts: ['organization_slug', 'pipeline_slug'], number: { claim: 'build_number', word: 'build' } },
    recorded: [
      'organization_slug',
      'pipeline_slug',
      'build_branch',
      'build_commit',
      'build_number',
      'step_key',
      'job_id',
    ],
  },
  // https://circleci.com/docs/openid-connect-tokens/. Every organization has an issuer of its own.
  CircleCI: {
    tenants: 'every project of the organization',
    tenancy: ['oidc.circleci.com/project-id'],
    owner: [],
    form: UUID,
    names: { sub: 'oidc.circleci.com/project-id' },
    patternForms: { 'oidc.circleci.com/vcs-origin': HOST_FIRST },
    events: {
      claim: 'oidc.circleci.com/ssh-rerun',
      accepted: ['false'],
      risks: { true: 'a person can open a shell in such a job' },
    },
    advised: [
      {
        oneOf: ['oidc.circleci.com/vcs-origin'],
        otherwise: 'a fork, if the project passes secrets to its builds,',
      },
      {
        oneOf: ['oidc.circleci.com/vcs-ref', 'oidc.circleci.com/context-ids'],
        otherwise: 'anyone who can push to a branch',
      },
    ],
    display: { parts: ['oidc.circleci.com/vcs-origin', 'oidc.circleci.com/vcs-ref'] },
    recorded: ['oidc.circleci.com/project-id', 'oidc.circleci.com/vcs-origin', 'oidc.circleci.com/vcs-ref'],
  },
  // https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/
  // The issuer contains the name of the workspace, which somebody else may take when it is given up.
  Bitbucket: {
    tenants: 'every repository',
    tenancy: ['repositoryUuid', 'workspaceUuid'],
    owner: ['workspaceUuid'],
    form: {
      form: /^\{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}$/,
      text: 'a UUID in lower case and braces',
    },
    names: { sub: 'repositoryUuid' },
    advised: [
      { oneOf: ['branchName', 'deploymentEnvironmentUuid'], otherwise: 'anyone who can push to a branch' },
      { oneOf: ['repositoryUuid'], otherwise: 'every repository of the workspace' },
    ],
    display: { parts: ['repositoryUuid', 'branchName'] },
    recorded: [
      'repositoryUuid',
      'workspaceUuid',
      'branchName',
      'deploymentEnvironmentUuid',
      'pipelineUuid',
      'stepUuid',
    ],
  },
  // https://developer.hashicorp.com/terraform/cloud-docs/dynamic-provider-credentials/workload-identity-tokens
  TerraformCloud: {
    tenants: 'every workspace',
    tenancy: ['terraform_workspace_id', 'terraform_project_id', 'terraform_organization_id'],
    owner: ['terraform_organization_id'],
    form: { form: /^(org|prj|ws)-[A-Za-z0-9]{1,64}$/, text: 'an id that begins with org-, prj- or ws-' },
    names: {
      terraform_organization_name: 'terraform_organization_id',
      terraform_project_name: 'terraform_project_id',
      terraform_workspace_name: 'terraform_workspace_id',
      terraform_full_workspace: 'terraform_workspace_id',
      sub: 'terraform_workspace_id',
    },
    advised: [
      { oneOf: ['terraform_run_phase'], otherwise: 'anyone who can start a plan' },
      { oneOf: ['terraform_workspace_id'], otherwise: 'every workspace that the other claims allow' },
    ],
    display: {
      parts: ['terraform_full_workspace', 'terraform_run_phase'],
      number: { claim: 'terraform_run_id', word: 'run' },
    },
    recorded: ['terraform_organization_name', 'terraform_workspace_name', 'terraform_run_id', 'terraform_run_phase'],
  },
  // https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
  // `sub` names namespace and service account. The claim kubernetes.io is an object, with which nothing is compared.
  Kubernetes: {
    tenants: 'every service account',
    tenancy: ['sub'],
    owner: [],
    form: { form: /^system:serviceaccount:[^:]+:[^:]+$/, text: 'system:serviceaccount:NAMESPACE:NAME' },
    tenancyPattern: { form: /^system:serviceaccount:[^:*]+:[^:]+$/, text: 'system:serviceaccount:NAMESPACE:*' },
    names: {},
    advised: [],
    display: { parts: ['sub'] },
    recorded: [],
    // A pod reads the token from a file, which the kubelet renews about once an hour.
  },
  // https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference. The issuer names the tenant.
  Azure: {
    tenants: 'everyone in the tenant',
    tenancy: [],
    owner: ['oid', 'sub'],
    names: {},
    mutable: ['email', 'name', 'preferred_username', 'tid', 'unique_name', 'upn'],
    advised: [],
    display: { parts: ['preferred_username'] },
    recorded: ['oid', 'tid'],
    // Azure's libraries return a token from their cache until it expires.
  },
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_outbound_token_claims.html. Every account has an
  // issuer of its own. The other claims are members of an object, with which nothing is compared.
  AWS: {
    tenants: 'every IAM principal of the account',
    tenancy: ['sub'],
    owner: [],
    form: { form: /^arn:aws[a-z-]*:iam::[0-9]{12}:.+$/, text: 'the ARN of an IAM principal' },
    names: {},
    advised: [],
    display: { parts: ['sub'] },
    recorded: [],
  },
  // https://developers.google.com/identity/openid-connect/openid-connect. `hd` is the domain of an organization: anyone who
  // uses it for a provider keeps the domain.
  Google: {
    tenants: 'everyone',
    tenancy: ['sub', 'hd'],
    owner: ['hd', 'sub'],
    names: {},
    advised: [{ oneOf: ['sub', 'email'], otherwise: 'everyone in the organization' }],
    display: { parts: ['email'] },
    recorded: ['hd', 'email'],
    // Google's libraries and the metadata server return a token from their cache until it expires.
  },
  OIDC: {
    tenants: 'everyone',
    tenancy: [],
    owner: ['sub'],
    names: {},
    advised: [],
    display: { parts: ['sub'] },
    recorded: [],
  },
} satisfies Record<IssuerType, TypeRules>
