/** Authorization by OAuth for clients. */
export { fileTokens } from './auth/flow/file-tokens.ts'
export { keychainTokens } from './auth/flow/keychain-tokens.ts'
export { loopbackRedirect } from './auth/flow/loopback.ts'
export { oauth } from './auth/flow/oauth.ts'
export { pageRedirect } from './auth/flow/redirect.ts'
export { memoryTokens } from './auth/flow/token-store.ts'
export type { ClientCredentials, SigningKey, TokenEndpointMethod } from './auth/flow/client.ts'
export type {
  AuthorizationCodeGrant,
  AuthorizationTarget,
  ClientCredentialsGrant,
  EnterpriseManagedGrant,
  Grant,
  JwtBearerGrant,
} from './auth/flow/grant.ts'
export type { Keychain, KeychainOptions } from './auth/flow/keychain-tokens.ts'
export type { LoopbackOptions } from './auth/flow/loopback.ts'
export type { NetworkOptions } from './auth/flow/network.ts'
export type { OAuth, OAuthOptions } from './auth/flow/options.ts'
export type { Listening, PageRedirect, Redirect } from './auth/flow/redirect.ts'
export type { RegistrationOptions } from './auth/flow/registration.ts'
export type { TokenStore } from './auth/flow/token-store.ts'
export type { AuthorizedRequest, Authorization, Challenge } from './model/authorization.ts'
