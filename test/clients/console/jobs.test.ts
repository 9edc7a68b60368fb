/** Compares the jobs of the console with docs/ci.md and with examples/, which test/server/federationpages.docs.ts runs. */
import { readFile } from 'node:fs/promises'
import { loadAll } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { fillJobs, type JobValues } from '../../../clients/console/src/pages/trusts/platforms/jobs.ts'
import type { JobTemplate } from '../../../clients/console/src/pages/trusts/platforms/platforms.ts'
import type { ClaimEntry } from '../../../clients/console/src/text/claims.ts'
import { readExample } from '../../support/examples.ts'
import { platformOf, platforms } from './platforms.ts'
import cases from './vectors/jobs.cases.json' with { type: 'json' }

const root = new URL('../../../', import.meta.url)
const url = 'https://keys.example.com/prod/kubernetes/management'
const uid = '3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11'

const bind = (claims: Record<string, string>): ClaimEntry[] =>
  Object.entries(claims).map(([claim, value]) => ({ claim, values: [value] }))

const job = (claims: Record<string, string>, more: Partial<JobValues> = {}): JobValues => ({
  url,
  audience: url,
  clientID: `shop-deploy@${uid}`,
  claims: bind(claims),
  ...more,
})

/** Returns the examples of a page below a heading, in their order. */
async function examplesOf(page: string, heading: string): Promise<string[]> {
  const text = await readFile(new URL(`docs/${page}.md`, root), 'utf8')
  const [, section = ''] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(text) ?? []
  return [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, example = '']) => example)
}

const jobsOf = (type: string, values: JobValues) => fillJobs(platformOf(type).jobs, values)

const textOf = (jobs: readonly JobTemplate[], index = 0) => jobs[index]?.text

describe('the job for', () => {
  test('GitHub Actions is the step of the page', async () => {
    const [step] = await examplesOf('ci', 'GitHub Actions')
    const claims = { repository_id: '74', environment: 'production' }
    expect(textOf(jobsOf('GitHub', job(claims, { virtualCluster: 'shop/staging' })))).toBe(step)
  })

  test('GitHub Actions with curl is the exchange of the page', async () => {
    const [example = ''] = await examplesOf('tour', 'A key without a stored secret')
    const text = textOf(jobsOf('GitHub', job({ repository_id: '74' })), 1)
    const variables = `KEYPLANE=${url}\nCREDENTIAL=shop-deploy@${uid}\n`
    const [, ...lines] = example.replaceAll(' --cacert .local/ca.crt', '').replaceAll('JOB_KEY', 'KEY').split('\n')
    // The page breaks the first command at another place, because it is longer there.
    const joined = (script: string) => script.replaceAll(/ \\\n +/g, ' ')
    expect(joined(text ?? '')).toBe(joined(variables + lines.join('\n')))
  })

  test('GitLab CI is the component of the page', async () => {
    const [pipeline] = await examplesOf('ci', 'GitLab CI')
    const claims = { project_id: '20', environment: 'production' }
    expect(textOf(jobsOf('GitLab', job(claims, { virtualCluster: 'shop/staging' })))).toBe(pipeline)
  })

  test.each<[type: string, file: string, claims: Record<string, string>, more?: Partial<JobValues>]>([
    ['Buildkite', 'buildkite/pipeline.yaml', { pipeline_id: 'p', build_branch: 'main' }],
    ['CircleCI', 'circleci/config.yaml', { 'oidc.circleci.com/project-id': 'p' }],
    ['Bitbucket', 'bitbucket/bitbucket-pipelines.yaml', { repositoryUuid: '{u}' }],
    [
      'TerraformCloud',
      'terraform-cloud/provider.tf',
      { terraform_workspace_id: 'ws-1' },
      { clientID: `shop-apply@${uid}` },
    ],
  ])('%s is the example', async (type, file, claims, more) =>
    expect(textOf(jobsOf(type, job(claims, more)))).toBe(await readExample(file)),
  )

  test('pods is the config map and the pod of the example', async () => {
    const example = await readExample('kubernetes/pod.yaml')
    const claims = { sub: 'system:serviceaccount:shop:operator' }
    const jobs = jobsOf('Kubernetes', job(claims, { clientID: `shop-operator@${uid}` }))
    expect(jobs.map(({ text }) => text).join('---\n')).toBe(example)
  })

  test.each([
    ['OIDC', 0],
    ['GitLab', 1],
  ])('%s exchanges a token that the job has', (type, index) => {
    const withCurl = textOf(jobsOf('GitHub', job({})), 1) ?? ''
    const [, , exchange = ''] = /^(.*\n){2}([\s\S]*)$/.exec(textOf(jobsOf(type, job({})), index) ?? '') ?? []
    expect(exchange).toMatch(/^KEY=/)
    expect(withCurl.endsWith(exchange)).toBe(true)
  })
})

const types = platforms.map(({ type }) => type)

describe('a job', () => {
  test.each(types)('of %s names the audience of its provider', (type) => {
    const audience = 'https://keys.example.com/jobs for us'
    const texts = jobsOf(type, job({}, { audience })).flatMap(({ text, next = '' }) => [text, next])
    expect(texts.some((text) => text.includes(audience) || text.includes(encodeURIComponent(audience)))).toBe(true)
  })

  test.each(types)('of %s has the URL and the client ID of the trust', (type) => {
    const here = job({}, { url: 'https://127.0.0.1:8443/kubernetes/management', audience: 'here' })
    const text = jobsOf(type, here)
      .map((one) => one.text)
      .join('')
    expect(text).toContain(here.url)
    expect(text).toContain(here.clientID)
  })

  test.each(cases.texts as [string, Record<string, string>, string, string[], string | string[]][])(
    'of %s writes %j as a text',
    (type, claims, _name, path, value) => {
      const [object]: unknown[] = loadAll(textOf(jobsOf(type, job(claims))) ?? '')
      const found = path.reduce((at, member) => (at as Record<string, unknown>)[member], object)
      expect(found).toEqual(value)
    },
  )

  test('of GitHub names no environment that the trust does not name alone', () => {
    const claims = [{ claim: 'environment', values: ['one', 'two'] }]
    expect(textOf(jobsOf('GitHub', job({}, { claims })))).not.toContain('environment')
    expect(textOf(jobsOf('GitHub', job({}, { claims: [] })))).not.toContain('environment')
  })

  test('of Buildkite asks for the ids that the trust binds', () => {
    const ids = { cluster_id: 'c', pipeline_id: 'p', build_branch: 'main' }
    expect(textOf(jobsOf('Buildkite', job(ids)))).toContain('--claim organization_id,pipeline_id,cluster_id |')
  })
})

describe('values that could become part of a command are refused:', () => {
  const hostile = [
    '"; curl evil.example; "',
    "'; curl evil.example; '",
    '$(curl evil.example)',
    '`curl evil.example`',
    `\${{ secrets.TOKEN }}`,
    '$[[ inputs.url ]]',
    '<< pipeline.parameters.x >>',
    '%{if true}',
    'main\n    steps: []',
    'main\\',
    'main #x!',
    '\u202emain',
    '',
  ]
  // threat: trusts-1
  test.each(hostile)('the audience %j', (audience) => {
    for (const type of types) expect(() => jobsOf(type, job({}, { audience }))).toThrow('The audience has characters')
  })

  // threat: trusts-1
  test.each(hostile)('the claims %j', (value) => {
    const refused = (type: string, claim: string, text = value) =>
      expect(() => jobsOf(type, job({ [claim]: text }))).toThrow(/^The .* has characters/)
    refused('GitHub', 'environment')
    refused('GitLab', 'environment')
    refused('Bitbucket', 'branchName')
    if (value === '') return
    refused('GitHub', 'ref', `refs/heads/${value}`)
    const part = value.replaceAll(':', '')
    refused('Kubernetes', 'sub', `system:serviceaccount:${part}:x`)
    refused('Kubernetes', 'sub', `system:serviceaccount:x:${part}`)
  })

  test.each(hostile)('the client ID, the virtual cluster and the URL %j', (value) => {
    for (const type of types) {
      expect(() => jobsOf(type, job({}, { clientID: `x${value}@${uid} ` }))).toThrow('The client ID has')
      expect(() => jobsOf(type, job({}, { url: `https://x/${value} ` }))).toThrow('The URL of this server has')
      expect(() => jobsOf(type, job({}, { virtualCluster: value }))).toThrow('The virtual cluster has')
    }
  })
})
