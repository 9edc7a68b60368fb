import { describe, expect, test } from 'vitest'
import { checkIssuer, discoveryDocument, jwksDocument } from '../../../../lib/clusters/token/jwks.ts'
import { localSigner } from './localsigner.ts'
import cases from './vectors/jwks.cases.json' with { type: 'json' }

describe('the public documents', () => {
  test('name the key set below the issuer, and the algorithms of all keys, in the discovery document', async () =>
    expect(
      await discoveryDocument(
        'https://api.example.com/base',
        'https://keys.example.com/prod',
        await localSigner('RS256'),
      ),
    ).toEqual({
      issuer: 'https://api.example.com/base',
      jwks_uri: 'https://api.example.com/base/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      token_endpoint: 'https://keys.example.com/prod/oauth2/token',
      revocation_endpoint: 'https://keys.example.com/prod/oauth2/revoke',
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:token-exchange'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    }))

  // threat: tokens-9
  test('contain every public key and nothing private', async () => {
    const { keys } = await jwksDocument(await localSigner('ES256', 'RS256'))
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ])
  })

  test.each(['https://api.example.com', 'https://api.example.com:8443/a/b'])('accept the issuer %s', (text) =>
    expect(checkIssuer(text)).toBe(text),
  )

  test.each(cases.issuers)('reject the issuer %j', (text) =>
    expect(() => checkIssuer(text)).toThrow('the issuer must be an https URL'),
  )
})
