/* The part of Apple's Foundation that the runtime and the example use, declared with the same types: for syntax checks,
 * and for tests/vendor/consumers/fake_metal.c. */
#ifndef APPLE_FOUNDATION_H
#define APPLE_FOUNDATION_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef signed char BOOL;
#define nil ((id)0)

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype)alloc;
- (instancetype)init;
@end

@interface NSAutoreleasePool : NSObject
- (void)drain;
@end

@interface NSString : NSObject
- (instancetype)initWithUTF8String:(const char *)text;
@property(readonly) const char *UTF8String __attribute__((objc_returns_inner_pointer));
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly, copy) NSString *localizedDescription;
@end

#endif
