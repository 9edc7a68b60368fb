/** Tests which proxies and names of certificates a kube config may have. */
import { expect, test } from 'vitest'
import { isProxyUrl, isTlsServerName } from '../../../../lib/clusters/cluster/network.ts'

// threat: users-31
test.each([
  ['http://proxy.example.com:3128', true],
  ['https://proxy.example.com', true],
  ['https://proxy.example.com/', true],
  ['socks5://10.0.0.1:1080', true],
  ['socks5://[2001:db8::1]:1080', true],
  ['', false],
  ['proxy.example.com:3128', false],
  ['socks4://proxy.example.com', false],
  ['socks5h://proxy.example.com', false],
  ['ftp://proxy.example.com', false],
  ['file:///etc/passwd', false],
  ['http://me:hunter2@proxy.example.com', false],
  ['http://me@proxy.example.com', false],
  ['http://@proxy.example.com', false],
  ['http://proxy.example.com:0', false],
  ['http://proxy.example.com:65536', false],
  ['http://proxy.example.com/path', false],
  ['http://proxy.example.com?a', false],
  ['http://proxy.example.com#a', false],
  ['http://*.example.com', false],
  ['http://proxy example.com', false],
  ['http://proxy.example.com\n', false],
  ['http://[::1', false],
  ['http://-', false],
])('%j is a proxy: %j', (text, expected) => {
  expect(isProxyUrl(text)).toBe(expected)
})

test.each([
  ['kubernetes.default.svc', true],
  ['EU', true],
  ['', false],
  ['10.0.0.1', false],
  ['2001:db8::1', false],
  ['eu.example.com:6443', false],
  ['*.example.com', false],
  ['eu..example.com', false],
  ['-eu', false],
  ['eu\n', false],
  ['x'.repeat(254), false],
])('%j is a name of a certificate: %j', (text, expected) => {
  expect(isTlsServerName(text)).toBe(expected)
})
