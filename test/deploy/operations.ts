/**
 * Tests of later deployments, and of the commands of the operations pages, with the AWS command line and kubectl. The
 * emulator ignores log filters and the time of a table restore (it copies the current table). It cannot stream lists, which
 * test/server/operationspages.docs.ts covers.
 */

import { stat, writeFile } from 'node:fs/promises'
import { decodeProtectedHeader } from 'jose'
import { expect, test, vi } from 'vitest'
import { additions } from '../infra/everysetting.ts'
import { readExample } from '../support/examples.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import { byLabel } from './deployed.ts'
import {
  adminKey,
  at,
  claimsOf,
  client,
  clusterToken,
  file,
  keys,
  makeKey,
  page,
  shell,
  stage,
  status,
  typedObject,
} from './place.ts'

const publishedKids = async (): Promise<string[]> => {
  const { json } = await client.call('/openid/v1/jwks', { token: '' })
  return json.keys.map(({ kid }: { kid: string }) => kid)
}

/** The signing keys in the order of their age, and a token of each. */
const signed: { kids: string[]; tokens: string[] } = { kids: [], tokens: [] }

/** What a deployment that changes nothing else prints. */
const kept = () => ({ ...at.said, pepper: 'kept', 'first key': `kept, in secret keyplane/${stage}/access-key` })

const statusOf = (name: string, token: string) => status(`${keys}/${name}`, token)

/** Defines the tests. */
export function describeOperations(): void {
  test('a second deployment keeps everything, and publishes a new signing key before use', async () => {
    const [before] = await publishedKids()
    const old = await clusterToken()
    const settings = ['--param', 'throttle-rate=100', '--param', 'signing-keys=1,2', '--tag', 'team=platform']
    expect(byLabel(await at.npm('deploy', ...settings))).toEqual(kept())
    expect(await at.secretText(`keyplane/${stage}/access-key`)).toBe(adminKey)
    expect(await statusOf('alice', adminKey)).toBe(200)
    signed.kids = await publishedKids()
    expect(signed.kids).toEqual([before, expect.not.stringMatching(before ?? '')])
    expect(decodeProtectedHeader(await clusterToken()).kid).toBe(before)
    signed.tokens = [old]
  })

  test('a deployment tags the stack, and replaces the log role of other APIs only if it is told to', async () => {
    const tags = 'aws cloudformation describe-stacks --stack-name keyplane-$STAGE --query Stacks[0].Tags --output json'
    expect(JSON.parse(await shell(tags))).toContainEqual({ Key: 'team', Value: 'platform' })
    const setRole = (arn: string) =>
      shell(`aws apigateway update-account --patch-operations op=replace,path=/cloudwatchRoleArn,value=${arn}`)
    const own = JSON.parse(await shell('aws apigateway get-account')).cloudwatchRoleArn
    expect(own).toContain('/keyplane-e2e-GatewayLogRole')
    await setRole('arn:aws:iam::000000000000:role/other')
    await expect(at.deploy('signing-keys=1,2')).rejects.toThrow(
      'with the role arn:aws:iam::000000000000:role/other, which this deployment would replace',
    )
    await setRole(own)
  })

  test('a domain becomes the URL and the issuer, the old URL still works, and the new signing key is used', async () => {
    const { domain, 'certificate-arn': certificate } = additions
    const { host } = new URL(at.said.url ?? '')
    const command = page('A domain', 0, { '--stage prod': `--stage ${stage}`, CERTIFICATE: certificate }).trimEnd()
    const more =
      '--param throttle-rate=100 --param signing-keys=2,1 --param provisioned-concurrency=1 --param warm-write-units=8000'
    const said = await at.run('bash', ['-c', `${command} ${more}`], at.deployer)
    const url = `https://${domain}/kubernetes/management`
    expect(byLabel(said)).toEqual({ ...kept(), url, dns: expect.any(String) })
    expect(said).toMatch(
      new RegExp(`^url {9}${url}\ndns {9}\\S+\\.eu-central-1\\.amazonaws\\.com \\(hosted zone \\w+\\)$`, 'm'),
    )
    const [first = '', second = ''] = signed.kids
    expect(await publishedKids()).toEqual([second, first])
    const fresh = await clusterToken()
    expect(decodeProtectedHeader(fresh).kid).toBe(second)
    await claimsOf(signed.tokens[0] ?? '', '/clusters/west')
    await claimsOf(fresh, '/clusters/west', url)
    signed.tokens.push(fresh)
    const { json } = await client.call('/.well-known/openid-configuration', { token: '' })
    expect([json.issuer, json.issuer.includes(host)]).toEqual([url, false])
    expect((await client.call('/apis')).status).toBe(200)
    const warm = `aws lambda get-provisioned-concurrency-config --function-name keyplane-$STAGE-authorizer --qualifier live --query RequestedProvisionedConcurrentExecutions`
    expect(await shell(warm)).toBe('1\n')
  })

  test('the rights to deploy can be created as a policy', async () => {
    const path = file('deployer.json')
    const said = await shell(page('Rights to deploy', 0, { '--stage prod': `--stage ${stage}`, 'deployer.json': path }))
    expect(said).toContain('policy/keyplane-deployer')
  })

  test('an address can subscribe to the alarms', async () => {
    const said = await shell(
      page('Monitoring', 0),
      'aws sns list-subscriptions-by-topic --topic-arn $(resource AlarmTopic)',
    )
    expect(said).toContain('you@example.com')
  })

  test('the log says why a request failed', async () => {
    const body = typedObject('OwnedAccessKey', { name: 'No Name' }, {})
    const refused = () => client.call(keys, { method: 'POST', body })
    const { status, headers } = await refused()
    expect(status).toBe(422)
    // On a busy machine, the emulator has the last line of a request in the log of the next one.
    await vi.waitFor(async () => {
      const said = await shell(page('Dashboard and logs', 0, { 'AUDIT-ID': headers['audit-id'] ?? 'none' }))
      if (!said.includes(`"requestId":"${headers['audit-id']}"`)) await refused()
      expect(said).toContain(`"requestId":"${headers['audit-id']}"`)
    }, patience)
  })

  test('the logs can be asked about each endpoint', async () => {
    // The emulator does not choose log groups by their prefix, and does not aggregate.
    const group = `--log-group-name /keyplane/${stage}/access --query-string`
    await shell(page('Endpoints', 0, { '--query-string': group, 'sleep 10': 'true' }))
  })

  test('the dead-letter queue can be emptied after a run of the collector', async () => {
    const queue = 'aws sqs get-queue-attributes --queue-url $(resource UncollectedChanges) --attribute-names All'
    const said = await shell(
      'aws sqs send-message --queue-url $(resource UncollectedChanges) --message-body given-up',
      queue,
      page('Uncollected changes', 0),
      queue,
    )
    const counts = [...said.matchAll(/"ApproximateNumberOfMessages": "(\d)"/g)].map(([, count]) => count)
    expect(counts).toEqual(['1', '0'])
    const log = 'aws logs filter-log-events --log-group-name /aws/lambda/keyplane-$STAGE-garbagecollector --output text'
    const run = 'aws lambda invoke --function-name keyplane-$STAGE-garbagecollector /dev/null'
    const logged = /"message":"garbage collection","source":"schedule".*"failed":0/
    await vi.waitFor(async () => {
      const said = await shell(log)
      if (!logged.test(said)) await shell(run)
      expect(said).toMatch(logged)
    }, patience)
  })

  test('the credentials of a virtual cluster can be changed', async () => {
    await writeFile(file('kubeconfig.new'), 'new')
    await shell(
      `aws secretsmanager create-secret --name keyplane/${stage}/virtualclusters/p-shop/dev --secret-string old`,
      page('Credentials of virtual clusters', 0, { 'file://kubeconfig': `file://${file('kubeconfig.new')}` }),
    )
    expect(await at.secretText(`keyplane/${stage}/virtualclusters/p-shop/dev`)).toBe('new')
  })

  describeKubectl('with kubectl', () => {
    test("the first key is an administrator's", async () => {
      const config = page('Preparing the shell', 1, {
        '"URL"': `"${at.url}"`,
      })
      const said = await shell(
        config,
        'kubectl auth whoami -o jsonpath={.status.userInfo.groups}',
        'echo " $KUBECONFIG"',
      )
      expect(said).toContain('system:masters')
      const path = said.trim().split(' ').at(-1) ?? ''
      expect((await stat(path)).mode & 0o077).toBe(0)
      expect(path).not.toContain(process.cwd())
      await shell(`KUBECONFIG=${path}`, page('Preparing the shell', 2))
      await expect(stat(path)).rejects.toThrow('ENOENT')
      // For the tests that follow.
      await shell(config.replace(/^export KUBECONFIG=.*$/m, `export KUBECONFIG=${file('kubeconfig')}`))
    })

    test('one key can be disabled', async () => {
      const token = await makeKey('one')
      await shell(page('Revoking', 0, { NAME: 'one' }))
      expect(await statusOf('one', token)).toBe(401)
    })

    test('exactly the keys that were created with one key can be disabled', async () => {
      const parent = await makeKey('parent')
      const made = await makeKey('made', {}, parent)
      const other = await makeKey('other')
      await makeKey('other-2', {}, parent, '?dryRun=All')
      const said = await shell(await readExample('audit/made-by.sh', { 'key NAME ': 'key parent ' }))
      expect(said).toBe('ownedaccesskey.management.platform/made patched\n')
      expect(await statusOf('made', made)).toBe(401)
      expect(await statusOf('other', other)).toBe(200)
    })
  })

  const placed = (...names: string[]) => Object.fromEntries(names.map((name) => [name, file(name)]))
  const closing = () => page('Restoring the table', 0, placed('stage.json', 'patch.json'))

  test('restoring a table stops all writes, and revoked keys stay revoked', async () => {
    const [mistake, leaked] = [await makeKey('mistake'), await makeKey('leaked')]
    const stops = 'aws lambda get-function-concurrency --function-name keyplane-$STAGE-sweep'
    // The emulator does not find the settings of single methods, because it decodes their paths in patches only:
    // test/infra/throttles.test.ts closes those.
    const all = `'methodSettings."*/*".throttlingRateLimit'`
    const limits = `aws apigateway get-stage --rest-api-id $API --stage-name $STAGE --query ${all}`
    const closed = await shell(closing(), page('Restoring the table', 1), limits, stops)
    expect(closed).toContain('"ReservedConcurrentExecutions": 0')
    expect(closed).toContain('\n0.0\n')
    for (const name of ['mistake', 'leaked']) await client.call(`${keys}/${name}`, { method: 'DELETE' })

    await writeFile(file('revoked.txt'), 'leaked\n')
    const opened = await shell(
      closing().split('\n', 1).join(),
      page('Restoring the table', 2, { 'revoked.txt': file('revoked.txt') }),
      closing().split('\nstop()')[0] ?? '',
      page('Restoring the table', 3, placed('revoked.txt', 'stage.json', 'patch.json')),
      limits,
      stops,
    )
    expect(opened).toMatch(/items written, \d+ removed, keys not restored: leaked$/m)
    expect(opened).toContain('\n100.0\n')
    expect(opened).not.toContain('ReservedConcurrentExecutions')
    expect(await statusOf('mistake', mistake)).toBe(200)
    expect(await statusOf('leaked', leaked)).toBe(401)
  })

  test('the API stays open when Lambda refuses to stop the functions that write', async () => {
    // The emulator refuses nothing.
    const refusing = `aws() {
    if [[ $2 == put-function-concurrency ]]; then echo 'InvalidParameterValueException: refused' >&2; return 254; fi
    original "$@"
  }\n`
    const rate = 'aws apigateway get-stage --rest-api-id $API --stage-name $STAGE'
    const said = await shell(refusing, `{ ${closing()} } 2>&1`, rate)
    expect(said).toContain('InvalidParameterValueException: refused\nREFUSED: functions still write')
    expect(said).toContain('"throttlingRateLimit": 100.0')
  })

  test('removing a rotated pepper invalidates all earlier keys and creates a new first key, and an omitted signing key is unpublished', async () => {
    const current = async () => JSON.parse(await at.secretText(await pepper()))
    const pepper = async () => (await shell('resource Pepper')).trim()
    const old = await makeKey('old')
    const { peppers: before } = await current()
    const version = /^"[\w-]+"\n$/
    expect(await shell(page('Pepper', 0))).toMatch(version)
    expect(await current()).toEqual({ current: '1', peppers: { ...before, 2: expect.stringMatching(/^[\w+/]{43}=$/) } })
    const [functions] = page('Pepper', 0).split('\nchange "')
    expect(await shell(functions ?? '', page('Pepper', 1))).toMatch(version)
    expect((await current()).current).toBe('2')
    expect(await statusOf('old', old)).toBe(200)
    expect(await shell(functions ?? '', page('Pepper', 3))).toMatch(version)
    expect(Object.keys((await current()).peppers)).toEqual(['2'])

    // Functions read it immediately after a deployment with another setting.
    const said = await at.deploy('max-key-ttl-seconds=7776000', 'signing-keys=2')
    expect(said).toEqual({ ...kept(), 'first key': `made, in secret keyplane/${stage}/access-key` })
    expect(await statusOf('old', old)).toBe(401)
    expect(await statusOf('old', adminKey)).toBe(401)
    expect(await publishedKids()).toEqual(signed.kids.slice(1))
    const [signedBefore = '', fresh = ''] = signed.tokens
    await claimsOf(fresh, '/clusters/west', `https://${additions.domain}/kubernetes/management`)
    await expect(claimsOf(signedBefore, '/clusters/west')).rejects.toThrow('no applicable key found')
  })

  test('bootstrap creates a first key only when no administrator key works', async () => {
    const first = page('Preparing the shell', 1).split('\n', 1).join()
    const run = () => shell(first, page('Break glass', 0, { '--stage prod': `--stage ${stage}` }))
    const kept = await run()
    expect(kept).toMatch(/"accessKey": "kept"/)
    const key = kept.trim().split('\n').at(-1) ?? ''
    const { json } = await client.call('/apis/management.platform/v1/selves', { method: 'POST', body: {}, token: key })
    const { status } = await client.call(`${keys}/${json.status.accessKey}`, { method: 'DELETE', token: key })
    expect(status).toBe(200)
    const made = await run()
    expect(made).toMatch(/"accessKey": "made"/)
    expect(await statusOf('old', made.trim().split('\n').at(-1) ?? '')).toBe(200)
  })
}
