; Inno Setup's recipe of an installer for Windows, made by build.ps1. Never run: written without
; a Windows machine.
[Setup]
AppId=swag-studio
AppName=SWAG Studio
AppVersion={#Version}
AppPublisher=The SWAG Studio authors
DefaultDirName={autopf}\SWAG Studio
DefaultGroupName=SWAG Studio
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=swag-studio-{#Version}-windows-setup
SetupIconFile=swag-studio.ico
UninstallDisplayIcon={app}\swag-studio-window.exe
Compression=lzma2

[Files]
Source: "..\..\dist\swag-studio\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\SWAG Studio"; Filename: "{app}\swag-studio-window.exe"

[Registry]
Root: HKA; Subkey: "Software\Classes\.swagproj"; ValueType: string; ValueData: "SWAGStudio.Project"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Project"; ValueType: string; ValueData: "SWAG Studio project"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Project\DefaultIcon"; ValueType: string; ValueData: "{app}\swag-studio-window.exe,0"
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Project\shell\open\command"; ValueType: string; ValueData: """{app}\swag-studio-window.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.swagpacket"; ValueType: string; ValueData: "SWAGStudio.Packet"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Packet"; ValueType: string; ValueData: "SWAG Studio work packet"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Packet\DefaultIcon"; ValueType: string; ValueData: "{app}\swag-studio-window.exe,0"
Root: HKA; Subkey: "Software\Classes\SWAGStudio.Packet\shell\open\command"; ValueType: string; ValueData: """{app}\swag-studio-window.exe"" ""%1"""
