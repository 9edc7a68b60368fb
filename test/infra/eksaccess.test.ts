/** Tests what lets a deployment into a cluster of Amazon EKS: the commands run with an `aws` that only prints how it was called. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printEks } from '../../infra/clusterconfig.ts'
import { eksCommands } from '../../infra/eksaccess.ts'
import { testFolder } from '../support/folder.ts'
import { runProgram } from '../support/programs.ts'
import { parseYaml } from '../support/yaml.ts'

const access = { stage: 'prod', cluster: 'web_1', region: 'eu-central-1' }
const account = '123456789012'
const role = `arn:aws:iam::${account}:role/keyplane-prod-clusters`
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

test('the commands make a role without rights that the functions may assume, and an access entry for it', async () => {
  const folder = testFolder()
  const aws = join(folder, 'aws')
  await writeFile(aws, `#!/bin/sh\nif [ "$1" = sts ]; then echo ${account}; else printf '%s\\0' "$@" >> calls; fi\n`)
  await chmod(aws, 0o755)
  const script = `${eksCommands(access).join('\n')}\ntr '\\0' '\\n' < calls\n`
  const { code, stdout, stderr } = await runProgram('sh', ['-e', '-c', script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}` },
  })
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  expect(lines.slice(0, 5)).toEqual([
    ...['iam', 'create-role', '--role-name', 'keyplane-prod-clusters', '--assume-role-policy-document'],
  ])
  expect(JSON.parse(lines[5] ?? '')).toEqual(trust)
  expect(lines.slice(6).join(' ')).toBe(
    `eks create-access-entry --region eu-central-1 --cluster-name web_1 --principal-arn ${role} --kubernetes-groups keyplane-clusters`,
  )
})

test('the objects give the role of the access entry two rights, and keyplane has no account', async () => {
  const [comment = '', ...documents] = (await printEks(access, 'keyplane', false)).split('---\n')
  expect(comment.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
  for (const command of eksCommands(access)) expect(comment).toContain(`#   ${command}\n`)
  const objects = await Promise.all(documents.map((text) => parseYaml(text)))
  expect(objects.map(({ kind }) => kind)).toEqual(['Namespace', 'Role', 'RoleBinding'])
  expect(objects[2].subjects).toEqual([
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'keyplane-clusters' },
  ])
})

test('Terraform makes the same', async () => {
  const text = await printEks(access, 'keyplane', true)
  const [, policy = ''] = /<<-EOT\n([\s\S]*?)\n {2}EOT/.exec(text) ?? []
  expect(JSON.parse(policy.replaceAll(`\${data.aws_caller_identity.this.account_id}`, account))).toEqual(trust)
  const [, role] = await Promise.all(
    (await printEks(access, 'keyplane', false))
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
  expect(rules).toEqual(role.rules)
})
