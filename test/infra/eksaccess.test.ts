/** Tests what lets a deployment into clusters of Amazon EKS: the commands run with an `aws` that only prints how it was called. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { printEks, printRole, readRole } from '../../infra/clusterconfig.ts'
import { type EksRole, eksRole, roleTerraform } from '../../infra/eksaccess.ts'
import { testFolder } from '../support/folder.ts'
import { listeningOverTls } from '../support/listeningovertls.ts'
import { runProgram } from '../support/programs.ts'
import { parseYaml } from '../support/yaml.ts'

const account = '123456789012'
const arn = `arn:aws:iam::${account}:role/platform/keyplane-prod-clusters`
const role = eksRole(arn) as EksRole
const cluster = { name: 'web_1', region: 'eu-central-1' }
const trust = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Principal: { AWS: `arn:aws:iam::${account}:root` },
      Condition: {
        ArnLike: {
          'aws:PrincipalArn': [
            `arn:aws:iam::${account}:role/keyplane-prod-*`,
            `arn:aws:iam::${account}:role/*/keyplane-prod-*`,
          ],
        },
      },
    },
  ],
}

/** Runs commands with credentials of an account. Returns how AWS was called, with a line for each word. */
async function run(commands: string, caller: string) {
  const folder = testFolder()
  const aws = join(folder, 'aws')
  await writeFile(aws, `#!/bin/sh\nif [ "$1" = sts ]; then echo ${caller}; else printf '%s\\0' "$@" >> calls; fi\n`)
  await chmod(aws, 0o755)
  const script = `code=0; (${commands}) || code=$?; touch calls; tr '\\0' '\\n' < calls; exit $code`
  const { code, stdout, stderr } = await runProgram('sh', ['-c', script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}` },
  })
  return { code, stderr, words: stdout.split('\n').slice(0, -1) }
}

test('the commands make a role without rights that the functions may assume', async () => {
  const { code, stderr, words } = await run(printRole(role, false), account)
  expect([code, stderr]).toEqual([0, ''])
  expect(words.slice(0, 7)).toEqual([
    ...['iam', 'create-role', '--path', '/platform/', '--role-name', 'keyplane-prod-clusters'],
    '--assume-role-policy-document',
  ])
  expect(JSON.parse(words.slice(7).join('\n'))).toEqual(trust)
})

test('they make nothing with credentials of another account', async () => {
  const { code, stderr, words } = await run(printRole(role, false), '210987654321')
  expect([code, stderr, words]).toEqual([1, `These are no credentials of account ${account}.\n`, []])
})

test('the access entry of a cluster names the role, whatever account the cluster is in', async () => {
  const [comment = '', ...documents] = (await printEks(role, cluster, 'keyplane', false)).split('---\n')
  const { words } = await run(
    comment.replace(/^#( {3})?/gm, (_, isCommand) => (isCommand ? '' : '#')),
    '210987654321',
  )
  expect(words.join(' ')).toBe(
    `eks create-access-entry --region eu-central-1 --cluster-name web_1 --principal-arn ${arn} --kubernetes-groups keyplane-clusters`,
  )
  const objects = await Promise.all(documents.map((text) => parseYaml(text)))
  expect(objects.map(({ kind }) => kind)).toEqual(['Namespace', 'Role', 'RoleBinding'])
  expect(objects[2].subjects).toEqual([
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'keyplane-clusters' },
  ])
})

test('Terraform makes the same', async () => {
  const [, policy = ''] = /<<-EOT\n([\s\S]*?)\n {2}EOT/.exec(roleTerraform(role)) ?? []
  expect(JSON.parse(policy)).toEqual(trust)
  const text = await printEks(role, cluster, 'keyplane', true)
  expect(text).toContain(`principal_arn     = "${arn}"`)
  const [, made] = await Promise.all(
    (await printEks(role, cluster, 'keyplane', false))
      .split('---\n')
      .slice(1)
      .map((one) => parseYaml(one)),
  )
  const rules = [...text.matchAll(/api_groups = (.*)\n\s+resources {2}= (.*)\n\s+verbs {6}= (.*)/g)].map(
    ([, groups = '', resources = '', verbs = '']) => ({
      apiGroups: JSON.parse(groups),
      resources: JSON.parse(resources),
      verbs: JSON.parse(verbs),
    }),
  )
  expect(rules).toEqual(made.rules)
})

describe('the role of the deployment', () => {
  const key = 'an-access-key'
  async function read(status: object, env: NodeJS.ProcessEnv = { KEYPLANE_KEY: key }) {
    const asked: unknown[] = []
    const { url, certificateAuthority, stop } = await listeningOverTls((request, response) => {
      asked.push([request.method, request.url, request.headers.authorization])
      response.writeHead(201).end(JSON.stringify({ kind: 'Self', status }))
    })
    const found = await readRole({ api: url, certificateAuthority }, env).catch((error) => error.message)
    await stop()
    return { found, asked }
  }

  test('is what the API says', async () => {
    const { found, asked } = await read({ clustersRoleARN: arn })
    expect(found).toEqual({ arn, partition: 'aws', account, path: '/platform/', name: 'keyplane-prod-clusters' })
    expect(asked).toEqual([['POST', '/apis/management.platform/v1/selves', `Bearer ${key}`]])
  })

  test.each([
    [{}, 'only administrators without a scope see it, and npm start has none'],
    [{ clustersRoleARN: `${arn}'; rm -rf ~; '` }, 'its ARN is not that of a deployment'],
    [{ clustersRoleARN: 'arn:aws:iam::123456789012:role/admin' }, 'its ARN is not that of a deployment'],
  ])('is not guessed from %j', async (status, why) => {
    expect((await read(status)).found).toBe(`The role of the deployment was not read: ${why}`)
  })

  test('is asked with a key only', async () => {
    const { found, asked } = await read({}, {})
    expect([found, asked]).toEqual([
      'The role of the deployment was not read: KEYPLANE_KEY_FILE names no access key',
      [],
    ])
  })
})
