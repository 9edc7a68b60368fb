/**
 * Describes the claims of each type of issuer: which identify a tenant for good, and which only seem to. Each entry names
 * the documentation from which its claims are taken.
 */

/** A form that the text of a claim must have. */
export interface ClaimForm {
  form: RegExp
  /** Completes the sentence “CLAIM is …”. */
  text: string
}

/** What is known about the claims of one type of issuer. */
export interface TypeRules {
  /** Claims of which a trust binds one to exact values. None: any claim that says who the workload is. */
  tenancy: readonly string[]
  /** The claims that bind an organization. A provider of a shared issuer binds one of them. */
  owner: readonly string[]
  /** The form of the values of `tenancy`. */
  form?: ClaimForm
  /** The form of a pattern on a claim of `tenancy` that binds a tenant as well as values do. */
  tenancyPattern?: ClaimForm
  /** Claims that name a tenant until somebody else takes the name, each with the claim to bind. */
  names: Readonly<Record<string, string>>
  /** Claims that name the place of a run, in which also code of strangers may run, each with the claim to bind. */
  places?: Readonly<Record<string, string>>
  /** The claim that says why a job runs, and the values that outsiders cannot cause. A trust lists any others itself. */
  events?: { claim: string; accepted: readonly string[]; outsiders: readonly string[] }
  /** Claims of which a trust should bind one. Otherwise every job of the tenant gets in, whoever pushed its code. */
  advised: readonly string[]
  /** Claims that tell people which job a key is for, and the number of the job with its word. */
  display: { parts: readonly string[]; number?: { claim: string; word: string } }
  /** Claims that the records of an exchange show. */
  recorded: readonly string[]
  /** `Lifetime` for tokens that their owners read from a file or a cache more than once. */
  tokenUse: 'Once' | 'Lifetime'
}

const DIGITS: ClaimForm = { form: /^[0-9]{1,19}$/, text: 'a string of digits' }
const UUID: ClaimForm = {
  form: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  text: 'a UUID in lower case',
}

export const typeRules = {
  // https://docs.github.com/en/actions/reference/security/oidc
  GitHub: {
    tenancy: ['repository_id', 'repository_owner_id', 'enterprise_id'],
    owner: ['repository_owner_id', 'enterprise_id'],
    form: DIGITS,
    names: {
      repository: 'repository_id',
      repository_owner: 'repository_owner_id',
      enterprise: 'enterprise_id',
      sub: 'repository_id',
    },
    // pull_request_target, workflow_run and events of issues start the workflow of the default branch for people who may
    // not write to the repository, and workflows often run their code or their text.
    // https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
    events: {
      claim: 'event_name',
      accepted: ['push', 'workflow_dispatch', 'schedule', 'release', 'merge_group', 'deployment'],
      outsiders: ['pull_request_target', 'workflow_run', 'issue_comment', 'issues', 'discussion', 'discussion_comment'],
    },
    advised: ['ref', 'environment', 'job_workflow_ref', 'workflow_ref'],
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
    tokenUse: 'Once',
  },
  // https://docs.gitlab.com/ci/secrets/id_token_authentication
  GitLab: {
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
    advised: ['ref', 'ref_protected', 'environment', 'environment_protected', 'deployment_tier'],
    display: { parts: ['project_path', 'environment'], number: { claim: 'job_id', word: 'job' } },
    recorded: ['project_path', 'project_id', 'ref', 'sha', 'environment', 'pipeline_source', 'user_login', 'job_id'],
    tokenUse: 'Once',
  },
  // https://buildkite.com/docs/agent/cli/reference/oidc. A job asks for the claims that end in _id with --claim.
  Buildkite: {
    tenancy: ['organization_id', 'pipeline_id', 'cluster_id', 'queue_id'],
    owner: ['organization_id'],
    form: UUID,
    names: { organization_slug: 'organization_id', pipeline_slug: 'pipeline_id', sub: 'pipeline_id' },
    advised: ['build_branch', 'step_key'],
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
    tokenUse: 'Once',
  },
  // https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
  // `sub` names namespace and service account. The claim kubernetes.io is an object, with which nothing is compared.
  Kubernetes: {
    tenancy: ['sub'],
    owner: ['sub'],
    form: { form: /^system:serviceaccount:[^:]+:[^:]+$/, text: 'system:serviceaccount:NAMESPACE:NAME' },
    tenancyPattern: { form: /^system:serviceaccount:[^:*]+:[^:]+$/, text: 'system:serviceaccount:NAMESPACE:*' },
    names: {},
    advised: [],
    display: { parts: ['sub'] },
    recorded: [],
    // A pod reads the token from a file, which the kubelet renews about once an hour.
    tokenUse: 'Lifetime',
  },
  OIDC: {
    tenancy: [],
    owner: ['sub'],
    names: {},
    advised: [],
    display: { parts: ['sub'] },
    recorded: [],
    tokenUse: 'Once',
  },
} satisfies Record<string, TypeRules>
