/** Tests what lets a deployment into clusters of Amazon EKS: the commands run with an `aws` that only prints how it was called. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountObjects } from '../../../../lib/clusters/connect/accounts.ts'
import {
  clusterTerraform,
  EKS_GROUP,
  type EksRole,
  eksRole,
  entryCommand,
  roleCommands,
  roleTerraform,
} from '../../../../lib/clusters/connect/eksaccess.ts'
import { testFolder } from '../../../support/folder.ts'
import { runProgram } from '../../../support/programs.ts'

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
  const { code, stderr, words } = await run(roleCommands(role).join('\n'), account)
  expect([code, stderr]).toEqual([0, ''])
  expect(words.slice(0, 7)).toEqual([
    ...['iam', 'create-role', '--path', '/platform/', '--role-name', 'keyplane-prod-clusters'],
    '--assume-role-policy-document',
  ])
  expect(JSON.parse(words.slice(7).join('\n'))).toEqual(trust)
})

test('they make nothing with credentials of another account', async () => {
  const { code, stderr, words } = await run(roleCommands(role).join('\n'), '210987654321')
  expect([code, stderr, words]).toEqual([1, `These are no credentials of account ${account}.\n`, []])
})

test('the access entry of a cluster names the role, whatever account the cluster is in', async () => {
  const { words } = await run(entryCommand(role, cluster), '210987654321')
  expect(words.join(' ')).toBe(
    `eks create-access-entry --region eu-central-1 --cluster-name web_1 --principal-arn ${arn} --kubernetes-groups keyplane-clusters`,
  )
  const objects = accountObjects('keyplane', EKS_GROUP)
  expect(objects.map(({ kind }) => kind)).toEqual(['Namespace', 'Role', 'RoleBinding'])
  expect(objects[2]?.subjects).toEqual([
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'keyplane-clusters' },
  ])
})

test('Terraform makes the same', () => {
  const [, policy = ''] = /<<-EOT\n([\s\S]*?)\n {2}EOT/.exec(roleTerraform(role)) ?? []
  expect(JSON.parse(policy)).toEqual(trust)
  const text = clusterTerraform(role, cluster, 'keyplane')
  expect(text).toContain(`principal_arn     = "${arn}"`)
  const [, made] = accountObjects('keyplane', EKS_GROUP)
  const rules = [...text.matchAll(/api_groups = (.*)\n\s+resources {2}= (.*)\n\s+verbs {6}= (.*)/g)].map(
    ([, groups = '', resources = '', verbs = '']) => ({
      apiGroups: JSON.parse(groups),
      resources: JSON.parse(resources),
      verbs: JSON.parse(verbs),
    }),
  )
  expect(rules).toEqual(made?.rules)
})

test.each([
  `${arn}'; rm -rf ~; '`,
  'arn:aws:iam::123456789012:role/admin',
  'arn:aws:iam::123456789012:role/$(id)/keyplane-prod-clusters',
])('%s is not the role of a deployment', (text) => expect(eksRole(text)).toBeUndefined())

test('accounts give the account of keyplane two rights in their namespace, in which it is not itself', () => {
  const objects = accountObjects('tokens') as { kind: string; metadata: { namespace?: string; name: string } }[]
  expect(objects.map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`)).toEqual([
    'Namespace /tokens',
    'Namespace /tokens-system',
    'ServiceAccount tokens-system/keyplane',
    'Secret tokens-system/keyplane',
    'Role tokens/keyplane',
    'RoleBinding tokens/keyplane',
  ])
  expect(objects[4]).toMatchObject({
    rules: [
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] },
    ],
  })
  expect(objects[5]).toMatchObject({
    subjects: [{ kind: 'ServiceAccount', name: 'keyplane', namespace: 'tokens-system' }],
  })
})
