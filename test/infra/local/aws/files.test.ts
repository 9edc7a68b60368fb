/** Tests the files of the signing keys and of the secrets. */
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSecretStore } from '../../../../infra/local/aws/secrets.ts'
import { openLocalKeys } from '../../../../infra/local/aws/signingkeys.ts'
import { openStored } from '../../../../infra/local/host/stored.ts'

const fileNamed = async (name: string) => join(await mkdtemp(join(tmpdir(), 'keyplane-')), name)
const mode = async (path: string) => (await stat(path)).mode & 0o777
const openKeys = (path?: string) => openLocalKeys(path, 'arn:aws:kms:eu-central-1:000000000000:key/')
const openSecrets = (path?: string) => openSecretStore(path, 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:')

test('an alias has one key', async () => {
  const { ensureKey } = await openKeys()
  const [key, same] = await Promise.all([ensureKey('alias/test'), ensureKey('alias/test')])
  expect(same).toBe(key)
  expect(await ensureKey('alias/other')).not.toBe(key)
})

// threat: local-3
test('keys are kept across a restart, readable by their owner only, and refused when damaged', async () => {
  const path = await fileNamed('kms.json')
  const first = await openKeys(path)
  const arn = await first.ensureKey('alias/test')
  const publicKeyOf = ({ open }: typeof first) => open(() => {}).publicKey(arn.slice(arn.lastIndexOf('/') + 1))
  const second = await openKeys(path)
  expect(await second.ensureKey('alias/test')).toBe(arn)
  expect((await publicKeyOf(second)).key.equals((await publicKeyOf(first)).key)).toBe(true)
  expect(await mode(path)).toBe(0o600)

  const content = await readFile(path, 'utf8')
  const sentence =
    /^The data file .*kms\.json is damaged: restore it from a copy, or remove the folder .* to start afresh\.$/
  for (const damaged of [content.slice(0, -20), content.replace('material', 'materiel'), '', '[]', 'null']) {
    await writeFile(path, damaged)
    await expect(openKeys(path)).rejects.toThrow(sentence)
  }
})

// threat: local-3
test('secrets are kept across a restart, readable by their owner only, and not as they are', async () => {
  const path = await fileNamed('secrets.json')
  const first = await openSecrets(path)
  const arn = await first.ensureSecret('kept')
  expect(arn).toMatch(/^arn:aws:secretsmanager:eu-central-1:000000000000:secret:kept-\w{6}$/)
  expect([await first.read(arn), await first.put('kept', 'hunter2')]).toEqual([undefined, true])
  const second = await openSecrets(path)
  expect([await second.ensureSecret('kept'), await second.read('kept')]).toEqual([arn, 'hunter2'])
  await second.setText('kept', 'hunter3')
  const third = await openSecrets(path)
  expect([await third.read(arn), await third.read('__proto__')]).toEqual(['hunter3', undefined])
  expect(await mode(path)).toBe(0o600)
  expect(await readFile(path, 'utf8')).not.toContain('hunter')
})

const fileWith = async (version: object) => {
  const path = await fileNamed('secrets.json')
  const before = { id: '1', stages: ['AWSPREVIOUS'], member: 'SecretString', value: 'b25l' }
  const secret = { arn: 'arn:a', name: 'a', versions: [before, { id: '2', stages: ['AWSCURRENT'], ...version }] }
  const file = await openStored(path, { secrets: [secret] })
  await file.change(() => {})
  return path
}

test('of a file with several versions the current one counts', async () => {
  const secrets = await openSecrets(await fileWith({ member: 'SecretString', value: 'dHdv' }))
  expect([await secrets.read('a'), await secrets.read('arn:a')]).toEqual(['two', 'two'])
})
