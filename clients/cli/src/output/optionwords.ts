/** Names the options of this program where messages of the server name the fields of revocations and rotations. */

const OPTIONS: Readonly<Record<string, string>> = {
  'spec.all': '--all',
  'spec.atMost': '--at-most',
  'spec.federatedIdentityCredentials': '--trusts',
  'spec.finish': '--finish',
  'spec.includeSelf': '--include-self',
  'spec.madeWith.name': '--made-with',
  'spec.madeWith.uid': '--made-with',
  'spec.names': '--name',
  'spec.overlapSeconds': '--overlap',
  'spec.replace': '--replace',
  'spec.unusedSince': '--unused-since',
}

export const inOptions = (text: string): string =>
  text.replace(/\bspec(\.[a-zA-Z]+)+/g, (field) => OPTIONS[field] ?? field)
