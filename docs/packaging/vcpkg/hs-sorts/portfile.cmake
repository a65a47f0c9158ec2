# SPDX-License-Identifier: MIT-0
# An overlay port for a bundle of hsgen with the prefix hs, in the folder `sorts` beside this file.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
set(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/sorts")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DHS_VULKAN=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME hs CONFIG_PATH lib/cmake/hs)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
