import { expect, test } from 'vitest'
import { type BannerFacts, banner } from '../../../infra/local/banner.ts'

const folder = '/work/keyplane'
const facts: BannerFacts = {
  url: 'https://127.0.0.1:8443/kubernetes/management',
  console: 'https://127.0.0.1:8443/console/',
  files: { ca: `${folder}/.local/ca.crt`, accessKey: `${folder}/.local/access-key` },
  keeps: 'Data is stored in .local.',
  shell: 'posix',
  folder,
}
const LOGIN = 'npx keyplane login https://127.0.0.1:8443/kubernetes/management --ca'

test('what the server prints at last fits a terminal of 80 by 24', () => {
  const lines = banner(facts).trim().split('\n')
  expect(lines.length).toBeLessThanOrEqual(12)
  const isCommand = (line: string) => line.startsWith('npx ')
  expect(lines.filter((line) => line.length > 80 && !isCommand(line))).toEqual([])
  expect(lines.filter(isCommand)).toEqual([
    `${LOGIN} .local/ca.crt --key-file .local/access-key`,
    'npx keyplane keys create --user alice --project demo --ttl 1d --key-file ci.key',
  ])
})

test.each([
  ['posix', `'/tmp/it'\\''s $HOME/ca.crt'`, `/tmp/it's $HOME/ca.crt`],
  ['cmd', '"C:\\$my work\\ca.crt"', 'C:\\$my work\\ca.crt'],
  ['powershell', "'C:\\$my work\\ca.crt'", 'C:\\$my work\\ca.crt'],
] as const)('paths elsewhere are whole, in words of %s', (shell, quoted, ca) => {
  const printed = banner({ ...facts, shell, files: { ca, accessKey: '/else/access-key' } })
  expect(printed).toContain(`\n${LOGIN} ${quoted} --key-file /else/access-key\n`)
})
