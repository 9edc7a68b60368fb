/** The claims of the demo issuer's ID tokens: as GitHub, GitLab and a Kubernetes cluster write them. */
import { randomUUID } from 'node:crypto'

type Claims = Record<string, unknown>

export interface Shape {
  /** What the page of the issuer says about it. */
  about: string
  /** The claims besides issuer, audience, times and jti. */
  claims: Claims
  /** `aud` as an array of one, as Kubernetes writes it. */
  audienceList?: boolean
  seconds: number
}

/** What the demo's trust binds. */
export const REPOSITORY_ID = '74'
export const ENVIRONMENT = 'production'

const sha = '9f3182061f1e2cca4702c368cbc039b7dc9d4485'
const workflow = 'octo-org/shop/.github/workflows/deploy.yml@refs/heads/main'

export const shapes: Readonly<Record<string, Shape>> = {
  github: {
    about: 'a job of GitHub Actions in the repository octo-org/shop',
    seconds: 300,
    claims: {
      sub: 'repo:octo-org@65/shop@74:environment:production',
      repository: 'octo-org/shop',
      repository_id: REPOSITORY_ID,
      repository_owner: 'octo-org',
      repository_owner_id: '65',
      repository_visibility: 'private',
      environment: ENVIRONMENT,
      ref: 'refs/heads/main',
      ref_type: 'branch',
      head_ref: '',
      base_ref: '',
      event_name: 'push',
      sha,
      actor: 'octocat',
      actor_id: '12',
      workflow: 'deploy',
      workflow_ref: workflow,
      workflow_sha: sha,
      job_workflow_ref: workflow,
      job_workflow_sha: sha,
      run_id: '1234567890',
      run_number: '10',
      run_attempt: '1',
      check_run_id: '51234567890',
      runner_environment: 'github-hosted',
    },
  },
  gitlab: {
    about: 'a job of GitLab CI in the project my-group/shop',
    seconds: 3600,
    claims: {
      sub: 'project_path:my-group/shop:ref_type:branch:ref:main',
      project_id: '20',
      project_path: 'my-group/shop',
      project_visibility: 'private',
      namespace_id: '72',
      namespace_path: 'my-group',
      job_project_id: '20',
      job_project_path: 'my-group/shop',
      job_namespace_id: '72',
      job_namespace_path: 'my-group',
      environment: ENVIRONMENT,
      environment_protected: 'true',
      deployment_tier: 'production',
      deployment_action: 'start',
      ref: 'main',
      ref_type: 'branch',
      ref_path: 'refs/heads/main',
      ref_protected: 'true',
      pipeline_id: '574',
      pipeline_source: 'push',
      job_id: '302',
      sha,
      ci_config_ref_uri: 'gitlab.com/my-group/shop//.gitlab-ci.yml@refs/heads/main',
      ci_config_sha: sha,
      user_id: '1',
      user_login: 'sample-user',
      user_email: 'sample-user@example.com',
      user_access_level: 'developer',
      runner_id: 1,
      runner_environment: 'gitlab-hosted',
    },
  },
  kubernetes: {
    about: 'a pod of the service account operator in the namespace shop',
    seconds: 3600,
    audienceList: true,
    claims: {
      sub: 'system:serviceaccount:shop:operator',
      'kubernetes.io': {
        namespace: 'shop',
        node: { name: 'node-1', uid: '0134a0ae-76bb-4ff2-a617-50c9dfa222b5' },
        pod: { name: 'operator-0', uid: 'c29bfb53-b487-4584-8af8-eb79a876e21a' },
        serviceaccount: { name: 'operator', uid: '261e4462-1bb3-4803-9db2-2370bccb04aa' },
      },
    },
  },
}

export interface Issued {
  issuer: string
  audience: string
  /** Claims of the shape to replace. */
  replaced: Readonly<Record<string, string>>
  /** Unix milliseconds. */
  now: number
}

/** Returns the claims of a new ID token. */
export function claimsOf(
  { claims, audienceList, seconds }: Shape,
  { issuer, audience, replaced, now }: Issued,
): Claims {
  const issuedAt = Math.floor(now / 1000)
  return {
    iss: issuer,
    aud: audienceList ? [audience] : audience,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + seconds,
    jti: randomUUID(),
    ...claims,
    ...replaced,
  }
}
